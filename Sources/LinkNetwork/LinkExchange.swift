internal import BeatTime
internal import LinkSession
internal import RealTime
internal import Synchronization

/// Connects the network thread with all others: commands go in, states come out.
final class LinkExchange: Sendable {
    /// Wakes the network thread.
    let wakeUp: WakeUp
    /// The real-time thread's own access to the session.
    let realTime: RealTimeSession
    private let inbox = Mutex(Inbox())
    private let published: Mutex<Published>
    private let listeners = Listeners()
    private let onChange: @Sendable (LinkState) -> Void
    private let onEvent: @Sendable (LinkEvent) -> Void

    /// A task for the network thread.
    struct Command: Sendable {
        var action: Action
        var whenDone: (@Sendable () -> Void)?

        enum Action: Sendable {
            case setEnabled(Bool)
            case setActive(Bool)
            case setStartStopSync(Bool)
            case edit(@Sendable (inout SessionState, HostTime) -> Void, whenRefused: (@Sendable (EditRefusal) -> Void)?)
            case commit(SessionState, at: HostTime)
            case report(PeerAnswer)
            case close
        }
    }

    /// Holds the answer to a question for the peers; empty if the peer was closed before.
    final class PeerAnswer: Sendable {
        private let reports = Mutex<[PeerReport]>([])

        func set(_ reports: [PeerReport]) { self.reports.withLock { $0 = reports } }
        var value: [PeerReport] { reports.withLock { $0 } }
    }

    private struct Inbox {
        var commands: [Command] = []
        var hasEnded = false
    }

    private struct Published {
        var state: LinkState
        /// The state with all commits that are not carried out yet; nil if there are none.
        ///
        /// ``capture()`` returns it, so callers see their own commits at once.
        var committed: SessionState?
        var pendingCommits = 0
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

    /// The newest session state, including commits made here.
    func capture() -> SessionState { published.withLock { $0.committed ?? $0.state.sessionState } }

    func commit(_ state: SessionState) {
        let command = Command(action: .commit(state, at: .now())) { [self] in
            published.withLock { published in
                published.pendingCommits -= 1
                if published.pendingCommits == 0 { published.committed = nil }
            }
        }
        published.withLock { published in
            published.committed = (published.committed ?? published.state.sessionState).taking(changesOf: state)
            published.pendingCommits += 1
        }
        post(command)
    }

    /// A new stream of all events from now on.
    func events() -> AsyncStream<LinkEvent> { listeners.add() }

    /// Hands a command to the network thread.
    ///
    /// If the thread has ended, only calls `whenDone`.
    func post(_ command: Command) {
        let hasEnded = inbox.withLock { inbox in
            if !inbox.hasEnded { inbox.commands.append(command) }
            return inbox.hasEnded
        }
        if hasEnded { command.whenDone?() } else { wakeUp.signal() }
    }

    // The methods below are for the network thread only.

    func takeCommands() -> [Command] {
        inbox.withLock { inbox in
            defer { inbox.commands.removeAll() }
            return inbox.commands
        }
    }

    /// Replaces the published state, and reports the change unless only the count of refused datagrams differs.
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

    /// Reports an edit that could not be made.
    func tell(_ refusal: EditRefusal) {
        onEvent(.editRefused(refusal))
        listeners.tell([.editRefused(refusal)])
    }

    func noteRefusals(_ count: Int) {
        published.withLock { $0.state.refusedDatagrams = count }
    }

    /// Drops all commands, now and later, calls their `whenDone`, and ends all event streams.
    func end() {
        let dropped = inbox.withLock { inbox in
            inbox.hasEnded = true
            defer { inbox.commands.removeAll() }
            return inbox.commands
        }
        for command in dropped { command.whenDone?() }
        listeners.end()
    }
}
