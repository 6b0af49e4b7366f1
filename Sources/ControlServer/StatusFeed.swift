internal import Arbiter
internal import Foundation
internal import NIOCore
internal import Synchronization

/// The newest status as events, for all streams together: however many there are, it is looked at and put into words
/// once.
///
/// Nothing is queued: a stream takes what is newest when it has time for it.
final class StatusFeed: Sendable {
    /// How often the status is looked at, and so an event sent, at most.
    static let period = Duration.milliseconds(50)
    /// How often an event comes though nothing has happened.
    ///
    /// Whoever watches counts the beats in between; the network is the session's, and should carry little.
    static let rest = Duration.milliseconds(250)

    private let read: @Sendable () throws -> Status
    private let newest = Mutex<Look?>(nil)

    /// A status as it was when it was looked at.
    private struct Look {
        let status: Status
        let time: ContinuousClock.Instant
        /// Counts what has happened since the server began.
        private(set) var happenings = 0
        /// Counts the times that a status was to be sent though nothing had happened; the same for all streams.
        private(set) var rounds = 0
        private var roundBegan: ContinuousClock.Instant
        /// The status as JSON, once somebody has asked for it.
        var text: String?

        init(_ status: Status, at time: ContinuousClock.Instant, after earlier: Look?) {
            self.status = status
            self.time = time
            roundBegan = time
            guard let earlier else { return }
            happenings = earlier.happenings + (earlier.status.withoutMotion == status.withoutMotion ? 0 : 1)
            let isNewRound = time - earlier.roundBegan >= StatusFeed.rest
            rounds = earlier.rounds + (isNewRound ? 1 : 0)
            if !isNewRound { roundBegan = earlier.roundBegan }
        }
    }

    /// How far one stream has come.
    struct Progress {
        fileprivate var happenings: Int?
        fileprivate var rounds: Int?
    }

    /// A feed of what `read` returns.
    init(_ read: @escaping @Sendable () throws -> Status) { self.read = read }

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
            let known = newest.flatMap { now - $0.time < Self.period ? $0 : nil }
            var look = try known ?? Look(try read(), at: now, after: newest)
            defer { newest = look }
            let hasChanged = progress.happenings.map { $0 != look.happenings } ?? false
            guard hasChanged || progress.rounds != look.rounds else { return nil }
            progress = Progress(happenings: look.happenings, rounds: look.rounds)
            let text = try look.text ?? String(decoding: json(look.status), as: UTF8.self)
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
