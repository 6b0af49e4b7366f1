import Glibc
import UnixSignals

/// The wish to end the program: Ctrl-C or SIGTERM.
///
/// The first is to be obeyed in order, with Stop for the devices and a bye-bye for the peers; a second ends at once.
struct StopRequest: Sendable {
    private let requests: AsyncStream<Void>

    init() async {
        // A reader that went away does not stop the music.
        signal(SIGPIPE, SIG_IGN)
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let (requests, request) = AsyncStream<Void>.makeStream()
        self.requests = requests
        Task {
            var isStopping = false
            for await signal in signals {
                if isStopping { _exit(128 + signal.rawValue) }
                isStopping = true
                request.yield()
            }
        }
    }

    func wait() async {
        for await _ in requests { return }
    }
}
