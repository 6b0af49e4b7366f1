import Glibc
import RealTime
import Synchronization

/// The wish to end the program: Ctrl-C, SIGTERM, and what else is chosen.
///
/// The first is to be obeyed in order, with Stop for the devices and a bye-bye for the peers. A second Ctrl-C or SIGTERM
/// ends at once; other signals do not, since a terminal that closes may well send two.
struct StopRequest: Sendable {
    private let requests: AsyncStream<Void>
    private let source: SignalSource
    private let made: Made

    /// Takes the signals from now on.
    ///
    /// - Parameter others: signals besides those of Ctrl-C and SIGTERM.
    /// - Throws: when the system gives no descriptor or no thread.
    init(alsoOn others: [Int32] = []) throws(SystemCallError) {
        // A reader that went away does not stop the music.
        signal(SIGPIPE, SIG_IGN)
        let (requests, request) = AsyncStream<Void>.makeStream()
        self.requests = requests
        let made = Made()
        let isInsisting = Atomic(false)
        self.made = made
        source = try SignalSource([SIGINT, SIGTERM] + others) { signal in
            made.isMade.store(true, ordering: .releasing)
            request.yield()
            guard [SIGINT, SIGTERM, SIGQUIT].contains(signal) else { return }
            if isInsisting.exchange(true, ordering: .relaxed) { _exit(128 + signal) }
        }
    }

    func wait() async {
        for await _ in requests { return }
    }

    /// Whether the wish was made, for loops that look now and then.
    var isMade: Bool { made.isMade.load(ordering: .acquiring) }

    /// What the thread of the signals writes.
    private final class Made: Sendable {
        let isMade = Atomic(false)
    }
}
