internal import Essentials
internal import GatewayStatus
internal import NIOCore
internal import Synchronization

/// The newest status as events, computed once for all streams.
///
/// Nothing is queued: a stream that is ready takes the newest status.
final class StatusFeed: Sendable {
    /// Most checks of the status per second, and so most events.
    private static let checksPerSecond: Int64 = 20
    /// Checks after which an event is sent even without changes: a quarter of a second.
    ///
    /// Clients compute the beats in between. The network belongs to the session, and should carry little.
    private static let rest: Int64 = 5

    private static let period = Duration.seconds(1) / Int(checksPerSecond)

    private let began: ContinuousClock.Instant
    private let read: @Sendable () throws -> Status
    private let newest = Mutex<Look?>(nil)

    /// The status at a check.
    private struct Look {
        let status: Status
        /// Number of the check, counting all possible ones since the feed began.
        let number: Int64
        /// Number of changes so far.
        private(set) var happenings = 0
        /// The status as JSON, after the first request for it.
        var text: String?

        /// Number of events due without changes.
        var round: Int64 { number / StatusFeed.rest }

        init(_ status: Status, number: Int64, after earlier: Look?) {
            self.status = status
            self.number = number
            guard let earlier else { return }
            happenings = earlier.happenings + (earlier.status.withoutMotion == status.withoutMotion ? 0 : 1)
        }
    }

    /// The progress of one stream.
    struct Progress {
        fileprivate var happenings: Int?
        fileprivate var round: Int64?
    }

    /// A feed of the status that `read` returns.
    ///
    /// - Parameters:
    ///   - began: start of the checks.
    ///   - read: called at most once per check, on the thread of the first stream that asks.
    init(since began: ContinuousClock.Instant = .now, _ read: @escaping @Sendable () throws -> Status) {
        self.began = began
        self.read = read
    }

    /// The time of the next check.
    ///
    /// It is the same for all streams, so that one timer interrupt serves them all. Each interrupt may come just before
    /// a tick and delay it by microseconds.
    func nextLook(after now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        began + Self.period * Int(number(at: now) + 1)
    }

    private func number(at time: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = (time - began).components
        return seconds * Self.checksPerSecond + attoseconds / (1_000_000_000_000_000_000 / Self.checksPerSecond)
    }

    /// The event to send to a stream now.
    ///
    /// - Parameters:
    ///   - progress: of the stream.
    ///   - now: the present time.
    /// - Returns: a `change` event if something changed since the stream's last one, else `status`; nil if none is due.
    /// - Throws: when there is no status.
    func event(after progress: inout Progress, at now: ContinuousClock.Instant) throws -> ByteBuffer? {
        try newest.withLock { newest in
            let number = number(at: now)
            let known = newest.flatMap { $0.number >= number ? $0 : nil }
            var look = try known ?? Look(try read(), number: number, after: newest)
            defer { newest = look }
            let hasChanged = progress.happenings.map { $0 != look.happenings } ?? false
            guard hasChanged || progress.round != look.round else { return nil }
            progress = Progress(happenings: look.happenings, round: look.round)
            let text = try look.text ?? JSON.text(look.status)
            look.text = text
            return ByteBuffer(string: "event: \(hasChanged ? "change" : "status")\ndata: \(text)\n\n")
        }
    }
}

extension Status {
    /// This status without values that change by themselves; if two of these differ, something has changed.
    var withoutMotion: Status {
        var still = self
        (still.beat, still.phase, still.startsInBeats, still.songBeats) = (0, 0, nil, nil)
        // A machine's clock is never quite even.
        if mode == .follow {
            still.tempo = 0
            for index in still.outputs.indices { still.outputs[index].sentTempo = nil }
        }
        still.link.measurementErrorMicroseconds = nil
        (still.follower.tempo, still.follower.jitterMicroseconds) = (nil, nil)
        (still.follower.tempoDoubt, still.follower.coarsenessMicroseconds, still.follower.seen) = (nil, nil, nil)
        (still.follower.refusedTicks, still.follower.refusedTransport) = (0, 0)
        for index in still.follower.refused.indices {
            (still.follower.refused[index].ticks, still.follower.refused[index].transport) = (0, 0)
        }
        for index in still.outputs.indices {
            (still.outputs[index].ticks, still.outputs[index].lateTicks) = (0, 0)
            still.outputs[index].skippedTicks = 0
            still.outputs[index].soundCard = nil
            still.outputs[index].bend?.milliseconds = 0
            (still.outputs[index].latenessMicroseconds, still.outputs[index].lastMinute) = (nil, nil)
        }
        still.realtime.wakeUpLatencyMicroseconds = nil
        for index in still.warnings.indices { still.warnings[index].message = "" }  // some count
        return still
    }
}
