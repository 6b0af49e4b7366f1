internal import BeatTime
internal import LinkSession
internal import RealTime
internal import Synchronization

/// Where the network thread and all others meet: commands go in, pictures of the state come out.
final class LinkExchange: Sendable {
    /// Wakes the network thread.
    let wakeUp: WakeUp
    private let inbox = Mutex(Inbox())
    private let published: Mutex<LinkState>
    private let onChange: @Sendable (LinkState) -> Void

    /// Something the network thread is to do.
    struct Command: Sendable {
        var action: Action
        var whenDone: (@Sendable () -> Void)?

        enum Action: Sendable {
            case setEnabled(Bool)
            case setStartStopSync(Bool)
            case edit(@Sendable (inout SessionState, HostTime) -> Void)
            case close
        }
    }

    private struct Inbox {
        var commands: [Command] = []
        var hasEnded = false
    }

    init(_ initial: LinkState, onChange: @escaping @Sendable (LinkState) -> Void) throws(SystemCallError) {
        wakeUp = try WakeUp()
        published = Mutex(initial)
        self.onChange = onChange
    }

    var state: LinkState { published.withLock { $0 } }

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
        let hasChanged = published.withLock { published in
            var counted = published
            counted.refusedDatagrams = state.refusedDatagrams
            published = state
            return counted != state
        }
        if hasChanged { onChange(state) }
    }

    func noteRefusals(_ count: Int) {
        published.withLock { $0.refusedDatagrams = count }
    }

    /// Nothing will be done any more; who waits for something is told so.
    func end() {
        let forgotten = inbox.withLock { inbox in
            inbox.hasEnded = true
            defer { inbox.commands.removeAll() }
            return inbox.commands
        }
        for command in forgotten { command.whenDone?() }
    }
}
