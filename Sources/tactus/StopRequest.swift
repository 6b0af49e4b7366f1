import Glibc
import RealTime
import Synchronization

/// Requests to end the program: Ctrl-C, SIGTERM, and other chosen signals.
///
/// After the first one, devices get a Stop and Tactus leaves the session. A second Ctrl-C or SIGTERM ends at once.
/// Other signals do not, since a closing terminal may send two.
struct StopRequest: Sendable {
    private let requests: AsyncStream<Void>
    private let source: SignalSource
    private let made: Made

    /// Starts handling the signals.
    ///
    /// - Parameter others: signals besides Ctrl-C and SIGTERM.
    /// - Throws: when the system gives no descriptor or no thread.
    init(alsoOn others: [Int32] = []) throws(SystemCallError) {
        // A closed pipe must not stop the music.
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
