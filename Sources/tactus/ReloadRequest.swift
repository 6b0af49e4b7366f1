import UnixSignals

/// The wish to read configuration and profiles again: SIGHUP, which so does not end the program if a terminal closes.
struct ReloadRequest: Sendable {
    private let signals: UnixSignalsSequence

    init() async { signals = await UnixSignalsSequence(trapping: .sighup) }

    /// Calls `body` at every request, until cancelled.
    func forEach(_ body: () async -> Void) async {
        for await _ in signals { await body() }
    }
}
