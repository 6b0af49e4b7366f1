public import BeatTime
public import LinkSession
public import RealTime

/// A Link peer: sockets, timers and session on one thread of its own.
///
/// It takes part on the network while it is *enabled*, which is the user's choice, and *active*, which is the
/// program's; it is *connected* while there is another peer in its session. Alone or off the network it keeps tempo,
/// beats and transport just as well.
///
/// Any thread may call it but a real-time one, which has ``realTime``. All times are those at which something is to be
/// heard: who knows the latency of the way to the loudspeaker adds it.
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
    ///   - tempo: the initial tempo, brought into the range that Link allows.
    ///   - isEnabled: whether to look for peers at once.
    ///   - isStartStopSyncEnabled: whether to share play and stop.
    ///   - interfaces: names of the network interfaces to use besides loopback; empty means all.
    ///   - priority: SCHED_FIFO priority of the network thread, or 0 for ordinary scheduling.
    ///   - resumptionTime: microseconds in which the first session joined is played along if it plays already. For a
    ///     program that is back after a crash; else 0, for joining a session starts nothing.
    ///   - onChange: runs on the network thread after every event that changed the state; it must not block, nor call
    ///     ``close()``.
    ///   - onEvent: runs there too, after `onChange`, for each thing that happened; ``events`` tells the same.
    /// - Throws: when the thread or its wake-up descriptor cannot be made.
    public init(
        tempo: Tempo, isEnabled: Bool = false, isStartStopSyncEnabled: Bool = false, interfaces: [String] = [],
        priority: Int32 = 0, resumptionTime: Int64 = 0, onChange: @escaping @Sendable (LinkState) -> Void = { _ in },
        onEvent: @escaping @Sendable (LinkEvent) -> Void = { _ in }
    ) throws(SystemCallError) {
        let now = HostTime.now()
        var engine = Engine(tempo: tempo, seed: .random(in: 0 ... .max), at: now)
        if resumptionTime > 0 { engine.resumePlaying(until: now.advanced(byMicroseconds: resumptionTime)) }
        let exchange = try LinkExchange(LinkState(engine), onChange: onChange, onEvent: onEvent)
        if isStartStopSyncEnabled { exchange.post(.init(action: .setStartStopSync(true))) }
        if isEnabled { exchange.post(.init(action: .setEnabled(true))) }
        self.exchange = exchange
        thread = try RealTimeThread(name: "tactus-link", priority: priority) {
            [engine] in
            LinkLoop(engine: engine, interfaceNames: interfaces, exchange: exchange).run()
        }
    }

    deinit { close() }

    /// The present state; `onChange` has been called with it.
    public var state: LinkState { exchange.state }

    /// All that happens from now on: tempo, play and stop, peers, switches.
    ///
    /// Each call makes a stream of its own. It ends when the peer is closed; whoever falls behind by hundreds of events
    /// loses the oldest.
    public var events: AsyncStream<LinkEvent> { exchange.events() }

    /// The same session for one real-time thread.
    public var realTime: RealTimeSession { exchange.realTime }

    /// Turns the user's switch: joins or leaves the network.
    ///
    /// - Parameters:
    ///   - isEnabled: true joins, false says bye-bye and leaves.
    ///   - whenDone: runs on the network thread when ``state`` shows it.
    public func setEnabled(_ isEnabled: Bool, whenDone: (@Sendable () -> Void)? = nil) {
        exchange.post(.init(action: .setEnabled(isEnabled), whenDone: whenDone))
    }

    /// Says whether the program has a use for Link just now.
    ///
    /// While it has none the peer stays off the network, whatever the user's switch says. A new peer is active.
    ///
    /// - Parameters:
    ///   - isActive: whether to take part if the user wants it.
    ///   - whenDone: runs on the network thread when ``state`` shows it.
    public func setActive(_ isActive: Bool, whenDone: (@Sendable () -> Void)? = nil) {
        exchange.post(.init(action: .setActive(isActive), whenDone: whenDone))
    }

    /// Begins or ceases to share play and stop; changes nothing by itself.
    ///
    /// - Parameters:
    ///   - isEnabled: whether play and stop are shared.
    ///   - whenDone: runs on the network thread when ``state`` shows it.
    public func setStartStopSync(_ isEnabled: Bool, whenDone: (@Sendable () -> Void)? = nil) {
        exchange.post(.init(action: .setStartStopSync(isEnabled), whenDone: whenDone))
    }

    /// The session state to read, or to change and ``commit(_:)``.
    public func capture() -> SessionState { exchange.capture() }

    /// Makes the changes to a captured state take effect: for every later ``capture()`` at once, in the session soon.
    ///
    /// Only what differs from what was captured is carried over. A timeline captured before another session was joined
    /// is dropped, or it would bring the old session's tempo along.
    public func commit(_ state: SessionState) { exchange.commit(state) }

    /// Changes the newest session state and commits it at once, so that no join can come between.
    ///
    /// - Parameters:
    ///   - body: runs on the network thread; it must not block.
    ///   - whenDone: runs there after `onChange`, when ``state`` shows the result.
    public func edit(
        _ body: @escaping @Sendable (inout SessionState, HostTime) -> Void, whenDone: (@Sendable () -> Void)? = nil
    ) {
        exchange.post(.init(action: .edit(body), whenDone: whenDone))
    }

    /// Says bye-bye on every interface and ends the thread; returns when that has happened.
    ///
    /// A second call returns at once. What is asked of a closed peer is not done, but `whenDone` runs all the same. Not
    /// to be called on the network thread.
    public func close() {
        exchange.post(.init(action: .close))
        thread.join()
    }
}
