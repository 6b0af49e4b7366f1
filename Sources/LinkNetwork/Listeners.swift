internal import Synchronization

/// All open event streams; each reader may take its time.
final class Listeners: Sendable {
    private let streams = Mutex(Streams())

    /// Most events kept for one reader; beyond that, the oldest are lost.
    private static let bound = 256

    private struct Streams {
        var continuations: [UInt64: AsyncStream<LinkEvent>.Continuation] = [:]
        var added: UInt64 = 0
        var hasEnded = false
    }

    func add() -> AsyncStream<LinkEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LinkEvent.self, bufferingPolicy: .bufferingNewest(Self.bound))
        let number: UInt64? = streams.withLock { streams in
            guard !streams.hasEnded else { return nil }
            streams.added += 1
            streams.continuations[streams.added] = continuation
            return streams.added
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.streams.withLock { _ = $0.continuations.removeValue(forKey: number) }
        }
        return stream
    }

    func tell(_ events: [LinkEvent]) {
        guard !events.isEmpty else { return }
        let continuations = streams.withLock { Array($0.continuations.values) }
        for continuation in continuations { for event in events { continuation.yield(event) } }
    }

    func end() {
        let continuations = streams.withLock { streams in
            streams.hasEnded = true
            defer { streams.continuations = [:] }
            return Array(streams.continuations.values)
        }
        for continuation in continuations { continuation.finish() }
    }
}
