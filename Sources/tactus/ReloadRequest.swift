import RealTime

/// The wish to read configuration and profiles again, by signals.
struct ReloadRequest: Sendable {
    private let requests: AsyncStream<Void>
    private let source: SignalSource?

    /// Takes the signals from now on, if there are any; several before they are obeyed count as one.
    ///
    /// - Throws: when the system gives no descriptor or no thread.
    init(on signals: [Int32]) throws(SystemCallError) {
        let (requests, request) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.requests = requests
        source = signals.isEmpty ? nil : try SignalSource(signals) { _ in request.yield() }
    }

    /// Calls `body` at every request, until cancelled.
    func forEach(_ body: () async -> Void) async {
        for await _ in requests { await body() }
    }
}
