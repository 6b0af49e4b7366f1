internal import ALSASequencer
internal import BeatTime
internal import LinkNetwork
internal import LinkSession
internal import RealTime
internal import Synchronization

/// Connects the gateway thread with others: takes events for it, and holds the status that it publishes.
final class GatewayExchange: Sendable {
    /// Receives a command's result; called on any thread.
    typealias Reply = @Sendable (Result<Void, CommandError>) -> Void

    /// A message from another thread to the gateway thread.
    enum Message: Sendable {
        case link(LinkState)
        case clocks([ClockInputEvent])
        case clockDevice(ClockInput.Device)
        case command(Command, Reply)
        case done(ReplyToken)
        case refused(EditRefusal, ReplyToken?)
    }

    let mailbox: Mailbox<Message>
    private let published: Mutex<StatusPicture>
    private let stopping = Atomic(false)
    /// When somebody last watched the status, in microseconds of host time.
    private let watched = Atomic<Int64>(.min / 2)

    init(_ picture: StatusPicture, mailbox: Mailbox<Message>) {
        self.mailbox = mailbox
        published = Mutex(picture)
    }

    // Any thread.

    /// The last picture that the gateway thread published.
    var picture: StatusPicture { published.withLock { $0 } }

    /// Queues a command.
    ///
    /// - Parameters:
    ///   - command: from any source.
    ///   - room: places in the mailbox to leave free for other senders.
    ///   - reply: receives the result.
    func post(_ command: Command, leaving room: Int = 0, reply: @escaping Reply) {
        if !mailbox.post(.command(command, reply), leaving: room) { reply(.failure(.busy)) }
    }

    /// Makes the gateway thread end, even if the mailbox is full; further calls are harmless.
    func stop() {
        stopping.store(true, ordering: .releasing)
        mailbox.wake()
    }

    /// Notes that somebody watches the status.
    func noteWatcher() {
        let now = HostTime.now().microseconds
        let before = watched.exchange(now, ordering: .relaxed)
        // Link may have left the network since.
        if now - before > Idleness.idleTimeout / 2 { mailbox.wake() }
    }

    // The gateway thread.

    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    /// When somebody last watched the status.
    var watchedAt: HostTime { HostTime(microseconds: watched.load(ordering: .relaxed)) }

    func publish(_ picture: StatusPicture) { published.withLock { $0 = picture } }
}
