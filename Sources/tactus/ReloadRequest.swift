import RealTime

/// Requests by signal to read configuration and profiles again.
struct ReloadRequest: Sendable {
    private let requests: AsyncStream<Void>
    private let source: SignalSource?

    /// Starts handling the signals, if any; several before the next reload count as one.
    ///
    /// - Throws: when the system gives no descriptor or no thread.
    init(on signals: [Int32]) throws(SystemCallError) {
        let (requests, request) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.requests = requests
        source = signals.isEmpty ? nil : try SignalSource(signals) { _ in request.yield() }
    }

    /// Calls `body` for each request, until cancelled.
    func forEach(_ body: () async -> Void) async {
        for await _ in requests { await body() }
    }
}
