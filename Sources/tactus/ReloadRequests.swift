import RealTime

/// Waits for signals, such as SIGHUP, that ask to reload the configuration and profiles.
struct ReloadRequests: Sendable {
    private let requests: AsyncStream<Void>
    private let source: SignalSource?

    /// Starts handling the signals; signals that arrive while a reload is running cause one more reload.
    ///
    /// - Parameter signals: their numbers; if there are none, no request ever arrives.
    /// - Throws: if the system provides no file descriptor or no thread.
    init(on signals: [Int32]) throws(SystemCallError) {
        let (requests, request) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.requests = requests
        source = signals.isEmpty ? nil : try SignalSource(signals) { _ in request.yield() }
    }

    /// Calls `body` for each request until the task is cancelled.
    func forEach(_ body: () async -> Void) async {
        for await _ in requests { await body() }
    }
}
