internal import BeatTime
internal import LinkSession
internal import RealTime
internal import Synchronization

/// Where the network thread and all others meet: commands go in, pictures of the state come out.
final class LinkExchange: Sendable {
    /// Wakes the network thread.
    let wakeUp: WakeUp
    /// Where the real-time thread comes in.
    let realTime: RealTimeSession
    private let inbox = Mutex(Inbox())
    private let published: Mutex<Published>
    private let listeners = Listeners()
    private let onChange: @Sendable (LinkState) -> Void
    private let onEvent: @Sendable (LinkEvent) -> Void

    /// Something the network thread is to do.
    struct Command: Sendable {
        var action: Action
        var whenDone: (@Sendable () -> Void)?

        enum Action: Sendable {
            case setEnabled(Bool)
            case setActive(Bool)
            case setStartStopSync(Bool)
            case edit(@Sendable (inout SessionState, HostTime) -> Void)
            case commit(SessionState, at: HostTime)
            case close
        }
    }

    private struct Inbox {
        var commands: [Command] = []
        var hasEnded = false
    }

    private struct Published {
        var state: LinkState
        /// What has been committed and not been carried out yet: whoever commits sees it at once.
        var committed: SessionState?
        var commitsUnderWay = 0
    }

    init(
        _ initial: LinkState, onChange: @escaping @Sendable (LinkState) -> Void,
        onEvent: @escaping @Sendable (LinkEvent) -> Void
    ) throws(SystemCallError) {
        wakeUp = try WakeUp()
        realTime = RealTimeSession(initial, wakeUp: wakeUp)
        published = Mutex(Published(state: initial))
        self.onChange = onChange
        self.onEvent = onEvent
    }

    var state: LinkState { published.withLock { $0.state } }

    /// The newest session state, what has been committed here included.
    func capture() -> SessionState { published.withLock { $0.committed ?? $0.state.sessionState } }

    func commit(_ state: SessionState) {
        let command = Command(action: .commit(state, at: .now())) { [self] in
            published.withLock { published in
                published.commitsUnderWay -= 1
                if published.commitsUnderWay == 0 { published.committed = nil }
            }
        }
        published.withLock { published in
            published.committed = (published.committed ?? published.state.sessionState).taking(changesOf: state)
            published.commitsUnderWay += 1
        }
        post(command)
    }

    /// All that happens from now on, for one listener.
    func events() -> AsyncStream<LinkEvent> { listeners.add() }

    /// Hands a command to the network thread; when that has ended there is nothing left to do, so it is done at once.
    func post(_ command: Command) {
        let hasEnded = inbox.withLock { inbox in
            if !inbox.hasEnded { inbox.commands.append(command) }
            return inbox.hasEnded
        }
        if hasEnded { command.whenDone?() } else { wakeUp.signal() }
    }

    // The rest is for the network thread alone.

    func takeCommands() -> [Command] {
        inbox.withLock { inbox in
            defer { inbox.commands.removeAll() }
            return inbox.commands
        }
    }

    /// Makes a picture the newest, and tells whoever listens if it differs in more than counts of refused datagrams.
    func publish(_ state: LinkState) {
        let old = published.withLock { published in
            defer { published.state = state }
            return published.state
        }
        realTime.publish(state)
        var counted = old
        counted.refusedDatagrams = state.refusedDatagrams
        guard counted != state else { return }
        onChange(state)
        let events = LinkEvent.between(old, state)
        for event in events { onEvent(event) }
        listeners.tell(events)
    }

    func noteRefusals(_ count: Int) {
        published.withLock { $0.state.refusedDatagrams = count }
    }

    /// Nothing will be done any more; who waits for something is told so.
    func end() {
        let forgotten = inbox.withLock { inbox in
            inbox.hasEnded = true
            defer { inbox.commands.removeAll() }
            return inbox.commands
        }
        for command in forgotten { command.whenDone?() }
        listeners.end()
    }
}
