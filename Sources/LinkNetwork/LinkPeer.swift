public import BeatTime
public import LinkSession
public import RealTime

/// A Link peer: sockets, timers and session on one thread of its own.
///
/// Any thread but a real-time one may call it.
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
    ///   - onChange: runs on the network thread after every event that changed the state; it must not block.
    /// - Throws: when the thread or its wake-up descriptor cannot be made.
    public init(
        tempo: Tempo, isEnabled: Bool = false, isStartStopSyncEnabled: Bool = false, interfaces: [String] = [],
        priority: Int32 = 0, onChange: @escaping @Sendable (LinkState) -> Void
    ) throws(SystemCallError) {
        let engine = Engine(tempo: tempo, seed: .random(in: 0 ... .max), at: .now())
        let exchange = try LinkExchange(LinkState(engine), onChange: onChange)
        if isStartStopSyncEnabled { exchange.post(.init(action: .setStartStopSync(true))) }
        if isEnabled { exchange.post(.init(action: .setEnabled(true))) }
        self.exchange = exchange
        thread = try RealTimeThread(name: "tactus-link", priority: priority) {
            LinkLoop(engine: engine, interfaceNames: interfaces, exchange: exchange).run()
        }
    }

    deinit { close() }

    /// The present state; `onChange` has been called with it.
    public var state: LinkState { exchange.state }

    /// Joins or leaves the network.
    ///
    /// - Parameters:
    ///   - isEnabled: true joins, false says bye-bye and leaves.
    ///   - whenDone: runs on the network thread when ``state`` shows it.
    public func setEnabled(_ isEnabled: Bool, whenDone: (@Sendable () -> Void)? = nil) {
        exchange.post(.init(action: .setEnabled(isEnabled), whenDone: whenDone))
    }

    /// Begins or ceases to share play and stop; changes nothing by itself.
    ///
    /// - Parameters:
    ///   - isEnabled: whether play and stop are shared.
    ///   - whenDone: runs on the network thread when ``state`` shows it.
    public func setStartStopSync(_ isEnabled: Bool, whenDone: (@Sendable () -> Void)? = nil) {
        exchange.post(.init(action: .setStartStopSync(isEnabled), whenDone: whenDone))
    }

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
