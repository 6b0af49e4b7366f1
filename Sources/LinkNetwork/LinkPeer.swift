public import BeatTime
public import LinkSession
public import RealTime

/// A Link peer with its own network thread.
///
/// It is on the network while it is both *enabled*, which is the user's choice, and *active*, which is the program's.
/// It is *connected* while there is another peer in its session. Tempo, beats and transport also work alone and off the
/// network.
///
/// Any thread may call it, except a real-time thread, which must use ``realTime``. All times are those at which
/// something should be heard; a program that knows its output latency must add it to the current time.
///
/// ```swift
/// let peer = try LinkPeer(tempo: Tempo(beatsPerMinute: 120))
/// // With peer.setEnabled(true) it looks for others; without, it keeps time alone.
/// let phase = peer.capture().phase(at: .now(), quantum: Beats(4))
/// assert(phase < Beats(4))
/// peer.close()
/// ```
public final class LinkPeer: Sendable {
    private let exchange: LinkExchange
    private let thread: RealTimeThread

    /// Starts a peer.
    ///
    /// - Parameters:
    ///   - tempo: the initial tempo, limited to the range that Link allows.
    ///   - isEnabled: whether to look for peers at once.
    ///   - isStartStopSyncEnabled: whether to share play and stop.
    ///   - interfaces: names of the network interfaces to use besides loopback; empty means all.
    ///   - priority: SCHED_FIFO priority of the network thread, or 0 for ordinary scheduling.
    ///   - resumptionTime: for a program restarted after a crash: if the first session it joins within this many
    ///     microseconds is already playing, the peer plays too. Otherwise 0: joining a session does not start playing.
    ///   - onChange: called on the network thread after every change of state. It must not block or call ``close()``.
    ///   - onEvent: called on the network thread, after `onChange`, once for each event, as ``events`` reports them.
    /// - Throws: if the thread or its wake-up descriptor cannot be created.
    public convenience init(
        tempo: Tempo, isEnabled: Bool = false, isStartStopSyncEnabled: Bool = false, interfaces: [String] = [],
        priority: Int32 = 0, resumptionTime: Int64 = 0, onChange: @escaping @Sendable (LinkState) -> Void = { _ in },
        onEvent: @escaping @Sendable (LinkEvent) -> Void = { _ in }
    ) throws(SystemCallError) {
        let now = HostTime.now()
        var engine = Engine(tempo: tempo, seed: .random(in: 0 ... .max), at: now)
        // An earlier run of the program may have left the session right before.
        engine.mayJustHaveLeft(at: now)
        if resumptionTime > 0 { engine.resumePlaying(until: now.advanced(byMicroseconds: resumptionTime)) }
        engine.setStartStopSync(isStartStopSyncEnabled)
        try self.init(engine, interfaces: interfaces, priority: priority, onChange: onChange, onEvent: onEvent)
        if isEnabled { setEnabled(true) }
    }

    /// Starts a peer with an engine that is set up already.
    package init(
        _ engine: Engine, interfaces: [String], priority: Int32,
        onChange: @escaping @Sendable (LinkState) -> Void = { _ in },
        onEvent: @escaping @Sendable (LinkEvent) -> Void = { _ in }
    ) throws(SystemCallError) {
        let exchange = try LinkExchange(LinkState(engine, at: .now()), onChange: onChange, onEvent: onEvent)
        self.exchange = exchange
        thread = try RealTimeThread(name: "tactus-link", priority: priority) {
            [engine] in
            LinkLoop(engine: engine, interfaceNames: interfaces, exchange: exchange).run()
        }
    }

    deinit { close() }

    /// The current state.
    public var state: LinkState { exchange.state }

    /// A new stream of all events from now on.
    ///
    /// The stream ends when the peer is closed. A reader that falls more than 256 events behind loses the oldest.
    public var events: AsyncStream<LinkEvent> { exchange.events() }

    /// Access to the session for one real-time thread.
    public var realTime: RealTimeSession { exchange.realTime }

    /// Enables or disables Link, as the user chooses: joins or leaves the network.
    ///
    /// A peer that was started or disabled less than 0.6 s ago first only listens for as long. Otherwise its session could
    /// be as old as one that another peer founded when it was left alone, and move that one's beats.
    ///
    /// - Parameters:
    ///   - isEnabled: true joins; false sends a bye-bye and leaves.
    ///   - whenDone: called on the network thread once ``state`` shows the change.
    public func setEnabled(_ isEnabled: Bool, whenDone: (@Sendable () -> Void)? = nil) {
        exchange.post(.init(action: .setEnabled(isEnabled), whenDone: whenDone))
    }

    /// Sets whether the program currently needs Link.
    ///
    /// While it does not, the peer stays off the network even if it is enabled. A new peer is active.
    ///
    /// - Parameters:
    ///   - isActive: whether to be on the network while enabled.
    ///   - whenDone: called on the network thread once ``state`` shows the change.
    public func setActive(_ isActive: Bool, whenDone: (@Sendable () -> Void)? = nil) {
        exchange.post(.init(action: .setActive(isActive), whenDone: whenDone))
    }

    /// Sets whether play and stop are shared with other peers; does not start or stop anything.
    ///
    /// - Parameters:
    ///   - isEnabled: whether play and stop are shared.
    ///   - whenDone: called on the network thread once ``state`` shows the change.
    public func setStartStopSync(_ isEnabled: Bool, whenDone: (@Sendable () -> Void)? = nil) {
        exchange.post(.init(action: .setStartStopSync(isEnabled), whenDone: whenDone))
    }

    /// A copy of the session state, to read, or to change and then ``commit(_:)``.
    public func capture() -> SessionState { exchange.capture() }

    /// Applies the changes made to a captured state.
    ///
    /// Every later ``capture()`` shows them at once; the session takes them over shortly after. Only what was changed
    /// since the capture is applied. If the peer has joined another session since the capture, a changed timeline is
    /// dropped, because it would carry the old session's tempo into the new one. A commit that cannot be made is reported
    /// as ``LinkEvent/editRefused(_:)``.
    public func commit(_ state: SessionState) { exchange.commit(state) }

    /// Changes the newest session state in one step, so that joining another session cannot come between.
    ///
    /// - Parameters:
    ///   - body: called on the network thread; it must not block.
    ///   - whenRefused: called instead of `whenDone` if the edit cannot be made; nothing of it is then. Without it
    ///     `whenDone` is called all the same.
    ///   - whenDone: called on the network thread, after `onChange`, once ``state`` shows the result.
    public func edit(
        _ body: @escaping @Sendable (inout SessionState, HostTime) -> Void,
        whenRefused: (@Sendable (EditRefusal) -> Void)? = nil, whenDone: (@Sendable () -> Void)? = nil
    ) {
        exchange.post(.init(action: .edit(body, whenRefused: whenRefused), whenDone: whenDone))
    }

    /// The peers heard now; none off the network or after ``close()``.
    ///
    /// Asks nothing of the network: it tells what is known anyway.
    package func peers() async -> [PeerReport] {
        let answer = LinkExchange.PeerAnswer()
        await withCheckedContinuation { continuation in
            exchange.post(.init(action: .report(answer)) { continuation.resume() })
        }
        return answer.value
    }

    /// Sends a bye-bye on every interface, ends the thread, and returns when both are done.
    ///
    /// A second call returns at once. A closed peer ignores all calls, but still calls their `whenDone`. Must not be
    /// called on the network thread.
    public func close() {
        exchange.post(.init(action: .close))
        thread.join()
    }
}
