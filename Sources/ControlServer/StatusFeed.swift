internal import Essentials
internal import GatewayStatus
internal import NIOCore
internal import Synchronization

/// The newest status as events, for all streams together: however many there are, it is looked at and put into words
/// once.
///
/// Nothing is queued: a stream takes what is newest when it has time for it.
final class StatusFeed: Sendable {
    /// How often a second the status is looked at, and so an event sent, at most.
    private static let checksPerSecond: Int64 = 20
    /// After how many checks an event comes though nothing has happened: a quarter of a second.
    ///
    /// Whoever watches counts the beats in between; the network is the session's, and should carry little.
    private static let rest: Int64 = 5

    private static let period = Duration.seconds(1) / Int(checksPerSecond)

    private let began: ContinuousClock.Instant
    private let read: @Sendable () throws -> Status
    private let newest = Mutex<Look?>(nil)

    /// A status as it was when it was looked at.
    private struct Look {
        let status: Status
        /// Counts the looks there could have been since the feed began.
        let number: Int64
        /// Counts what has happened since then.
        private(set) var happenings = 0
        /// The status as JSON, once somebody has asked for it.
        var text: String?

        /// Counts the times that a status was to be sent though nothing had happened.
        var round: Int64 { number / StatusFeed.rest }

        init(_ status: Status, number: Int64, after earlier: Look?) {
            self.status = status
            self.number = number
            guard let earlier else { return }
            happenings = earlier.happenings + (earlier.status.withoutMotion == status.withoutMotion ? 0 : 1)
        }
    }

    /// How far one stream has come.
    struct Progress {
        fileprivate var happenings: Int?
        fileprivate var round: Int64?
    }

    /// A feed of what `read` returns.
    ///
    /// - Parameters:
    ///   - began: from when its looks are counted.
    ///   - read: asked at most once a look, on the thread of whichever stream is first.
    init(since began: ContinuousClock.Instant = .now, _ read: @escaping @Sendable () throws -> Status) {
        self.began = began
        self.read = read
    }

    /// When the next look is taken.
    ///
    /// The same for all streams, so that one interrupt of the machine's timer serves them all: each may come just
    /// before a tick is due, and hold that up for microseconds.
    func nextLook(after now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        began + Self.period * Int(number(at: now) + 1)
    }

    private func number(at time: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = (time - began).components
        return seconds * Self.checksPerSecond + attoseconds / (1_000_000_000_000_000_000 / Self.checksPerSecond)
    }

    /// What is to be sent to a stream now.
    ///
    /// - Parameters:
    ///   - progress: how far the stream has come.
    ///   - now: the present time.
    /// - Returns: one event: `change` if something has happened since the stream's last, else `status`; nil as long as
    ///   there is no reason for one.
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
    /// This status without what moves by itself: where two of these differ, something has happened between them.
    var withoutMotion: Status {
        var still = self
        (still.beat, still.phase, still.startsInBeats) = (0, 0, nil)
        if mode == .follow { still.tempo = 0 }  // a machine's clock is never quite even
        still.link.measurementErrorMicroseconds = nil
        (still.follower.tempo, still.follower.jitterMicroseconds) = (nil, nil)
        (still.follower.refusedTicks, still.follower.refusedTransport) = (0, 0)
        for index in still.follower.refused.indices {
            (still.follower.refused[index].ticks, still.follower.refused[index].transport) = (0, 0)
        }
        for index in still.outputs.indices {
            (still.outputs[index].ticks, still.outputs[index].lateTicks) = (0, 0)
            still.outputs[index].latenessMicroseconds = nil
        }
        still.realtime.wakeUpLatencyMicroseconds = nil
        for index in still.warnings.indices { still.warnings[index].message = "" }  // some count
        return still
    }
}
