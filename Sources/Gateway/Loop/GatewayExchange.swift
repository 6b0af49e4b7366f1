internal import ALSASequencer
internal import BeatTime
internal import LinkNetwork
internal import RealTime
internal import Synchronization

/// What crosses threads: events on their way to the gateway thread, and the status that it publishes.
final class GatewayExchange: Sendable {
    /// Takes what became of a command; runs on any thread.
    typealias Reply = @Sendable (Result<Void, CommandError>) -> Void

    /// What other threads tell the gateway thread.
    enum Message: Sendable {
        case link(LinkState)
        case clocks([ClockInputEvent])
        case clockDevice(ClockInput.Device)
        case command(Command, Reply)
        case done(ReplyToken)
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

    /// What the gateway thread has published last.
    var picture: StatusPicture { published.withLock { $0 } }

    /// Has a command carried out.
    ///
    /// - Parameters:
    ///   - command: from wherever it comes.
    ///   - room: places in the mailbox that it must leave free for others.
    ///   - reply: takes what became of it.
    func post(_ command: Command, leaving room: Int = 0, reply: @escaping Reply) {
        if !mailbox.post(.command(command, reply), leaving: room) { reply(.failure(.busy)) }
    }

    /// Has the gateway thread end everything, even if the mailbox is full; more than one call does no harm.
    func stop() {
        stopping.store(true, ordering: .releasing)
        mailbox.wake()
    }

    /// Notes that somebody watches the status.
    func noteWatcher() {
        let now = HostTime.now().microseconds
        let before = watched.exchange(now, ordering: .relaxed)
        // Link may have left since.
        if now - before > Idleness.idleTimeout / 2 { mailbox.wake() }
    }

    // The gateway thread.

    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    /// When somebody last watched the status.
    var watchedAt: HostTime { HostTime(microseconds: watched.load(ordering: .relaxed)) }

    func publish(_ picture: StatusPicture) { published.withLock { $0 = picture } }
}
