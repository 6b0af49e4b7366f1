import Glibc
import RealTime
import Synchronization

/// Requests to end the program: Ctrl-C, SIGTERM, and other chosen signals.
///
/// After the first one, devices get a Stop and Tactus leaves the session. A second Ctrl-C, SIGTERM or SIGQUIT ends the
/// program at once. Other signals do not, since a closing terminal may send two.
struct StopRequest: Sendable {
    private let requests: AsyncStream<Void>
    private let source: SignalSource
    private let flag: StopFlag

    /// Starts handling the signals.
    ///
    /// - Parameter others: signals besides Ctrl-C and SIGTERM.
    /// - Throws: when the system gives no descriptor or no thread.
    init(alsoOn others: [Int32] = []) throws(SystemCallError) {
        // A closed pipe must not stop the music.
        signal(SIGPIPE, SIG_IGN)
        let (requests, request) = AsyncStream<Void>.makeStream()
        self.requests = requests
        let flag = StopFlag()
        let isInsisting = Atomic(false)
        self.flag = flag
        source = try SignalSource([SIGINT, SIGTERM] + others) { signal in
            flag.isRequested.store(true, ordering: .releasing)
            request.yield()
            guard [SIGINT, SIGTERM, SIGQUIT].contains(signal) else { return }
            if isInsisting.exchange(true, ordering: .relaxed) { _exit(128 + signal) }
        }
    }

    func wait() async {
        for await _ in requests { return }
    }

    /// Whether a stop was requested; for loops that poll.
    var isRequested: Bool { flag.isRequested.load(ordering: .acquiring) }

    /// Written by the signal thread.
    private final class StopFlag: Sendable {
        let isRequested = Atomic(false)
    }
}
