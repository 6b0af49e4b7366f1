import Glibc
import RealTime
import Synchronization

/// Requests to end the program: Ctrl-C, SIGTERM, and other chosen signals.
///
/// After the first one, devices get a Stop and Tactus leaves the session. A second Ctrl-C, SIGTERM or SIGQUIT ends the
/// program at once, but for the Stops; ``RunEnd`` decides.
struct StopRequest: Sendable {
    private let requests: AsyncStream<Void>
    private let source: SignalSource
    private let state: State

    /// Longest wait for the output thread to send its Stops before the process ends, in milliseconds.
    private static let stopTime: Int32 = 400

    /// Starts handling the signals.
    ///
    /// - Parameters:
    ///   - others: signals besides Ctrl-C and SIGTERM.
    ///   - isForced: whether the machines are stopped, and the process ended, if it does not end by itself.
    /// - Throws: when the system gives no descriptor or no thread.
    init(alsoOn others: [Int32] = [], isForced: Bool = false) throws(SystemCallError) {
        // A closed pipe must not stop the music.
        signal(SIGPIPE, SIG_IGN)
        let (requests, request) = AsyncStream<Void>.makeStream()
        self.requests = requests
        let state = State(RunEnd(isForced: isForced))
        self.state = state
        let perform: @Sendable (RunEnd.Action) -> Void = { action in
            switch action {
            case .begin:
                state.isRequested.store(true, ordering: .releasing)
                request.yield()
            case .stopMachines: Crash.finishNow(atMost: Self.stopTime)
            case .exit(let code): _exit(code)
            }
        }
        source = try SignalSource(
            [SIGINT, SIGTERM] + others,
            timePassed: {
                while let action = state.end.withLock({ $0.timePassed(to: .now()) }) { perform(action) }
                return state.end.withLock(\.deadline)
            }
        ) { signal in
            for action in state.end.withLock({ $0.requested(by: signal, at: .now()) }) { perform(action) }
        }
    }

    func wait() async {
        for await _ in requests { return }
    }

    /// Whether a stop was requested; for loops that poll.
    var isRequested: Bool { state.isRequested.load(ordering: .acquiring) }

    /// Written by the signal thread.
    private final class State: Sendable {
        let isRequested = Atomic(false)
        let end: Mutex<RunEnd>

        init(_ end: RunEnd) { self.end = Mutex(end) }
    }
}
