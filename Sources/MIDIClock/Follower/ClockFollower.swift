public import BeatTime

/// Follows a MIDI clock leader: stamps and transport in, tempo, beat and their uncertainty out.
///
/// The estimate is a straight line through the longest run of newest ticks that is one line, by robust least squares:
/// a long run, so calm, while the leader is steady; a short one, so fast, as soon as its ticks say that the tempo has
/// changed. Lost, late and doubled ticks are told from changes of tempo before they can bend the line, and the count
/// of ticks goes through them unharmed. Swing inside the clock is learned and taken out.
///
/// A value that allocates nothing after it is made, for one thread. It reads no clock: call ``timePassed(to:)`` at
/// ``lostAt`` to learn of silence.
public struct ClockFollower: Sendable {
    /// How well the leader is known.
    public enum State: Hashable, Sendable, BitwiseCopyable {
        /// No tempo yet.
        case waiting
        /// Ticks come, but do not say clearly enough how fast.
        case settling
        /// Tempo and beat are known: within 0.5 % and a tenth of a tick, twice their deviation, when it begins.
        case locked
        /// Ticks have ceased; the last estimate holds.
        case lost
    }

    /// What came, counted since the follower was made.
    public struct Counts: Hashable, Sendable, BitwiseCopyable {
        /// Timing Clocks.
        public var ticks: Int64 = 0
        /// Ticks that never came, as the time without them tells.
        public var lost: Int64 = 0
        /// Timing Clocks that were no tick of their own: doubled, or noise on the line.
        public var extra: Int64 = 0
        /// Messages with an impossible time.
        public var refused: Int64 = 0

        public init(ticks: Int64 = 0, lost: Int64 = 0, extra: Int64 = 0, refused: Int64 = 0) {
            self.ticks = ticks
            self.lost = lost
            self.extra = extra
            self.refused = refused
        }
    }

    /// How well the leader is known, as of the last message or ``timePassed(to:)``.
    public private(set) var state: State = .waiting
    /// What the leader's transport says.
    public private(set) var song = FollowedSong()
    private var tracker = TickTracker()
    private var ticks: Int64 = 0
    private var refused: Int64 = 0
    private var lastTick: HostTime?

    /// The latest time that is believed, and minus the earliest, in microseconds.
    private static let furthest: Int64 = 1 << 53
    /// The most that single ticks of a clock jitter, as a share of the period; beyond it, it is no clock.
    private static let mostJitter = 0.2
    /// The fewest ticks to lock on, half a beat: fewer may be one side of a swing.
    private static let fewestToLock = 12

    /// A follower that has heard nothing.
    public init() {}

    /// Takes in a message of the leader.
    ///
    /// - Parameters:
    ///   - message: in the order of arrival.
    ///   - time: when it came; any, though beyond 2^53 microseconds from zero it is counted and ignored.
    public mutating func received(_ message: ClockMessage, at time: HostTime) {
        guard abs(time.microseconds.clamped) < Self.furthest else {
            refused += 1
            return
        }
        switch message {
        case .timingClock: receivedTick(at: time)
        case .start: song.start()
        case .continue: song.resume()
        case .stop: song.stop(before: nextTick)
        case .songPosition(let beats): song.locate(beats, before: nextTick)
        }
    }

    /// Takes note that an unknown number of messages was lost before the next one: an input has overflowed.
    ///
    /// How many ticks were among them, time will tell; the nearest whole number is taken.
    public mutating func messagesLost() { tracker.ticksMayBeLost() }

    /// Takes note that no tick came until now.
    public mutating func timePassed(to now: HostTime) {
        guard state != .waiting, let lostAt, now >= lostAt else { return }
        state = .lost
    }

    /// When the leader counts as lost unless a tick comes before: 250 ms or four ticks after the last, whichever is
    /// more; nil while there is nothing to lose.
    public var lostAt: HostTime? {
        guard let lastTick, let fit = tracker.fit else { return nil }
        return lastTick.advanced(byMicroseconds: max(250_000, roundedToInteger(4 * fit.period)))
    }

    /// The number that the next tick has unless one is lost before it.
    public var nextTick: Int64 { tracker.nextNumber }

    /// How many of the ticks heard last ``tick(ago:)`` can name: at most 256, fewer when the clock has begun anew.
    package var ticksHeard: Int { tracker.heard.count }

    /// One of the ticks heard last, under the number it has by now; Timing Clocks that were no tick are not among them.
    ///
    /// - Parameter age: how many came after it, below ``ticksHeard``.
    /// - Returns: its number, and when it came.
    package func tick(ago age: Int) -> (number: Int64, time: HostTime) {
        (tracker.heard[age].number, tracker.heard[age].time(0))
    }

    /// What has come so far.
    public var counts: Counts {
        Counts(ticks: ticks, lost: tracker.lost, extra: tracker.extra, refused: refused)
    }

    /// The estimate, from the second tick on; it stays when the leader is lost.
    public var estimate: ClockEstimate? {
        guard let fit = tracker.fit else { return nil }
        let whole = fit.phase.rounded(.down)
        let noise = tracker.jitter.equivalent
        return ClockEstimate(
            tick: tracker.newest.number, time: tracker.newest.time(roundedToInteger(whole)),
            fraction: fit.phase - whole, microsecondsPerTick: fit.period, periodDeviation: fit.periodDeviation * noise,
            phaseDeviation: fit.nextDeviation * noise, jitter: tracker.jitter.deviation, window: fit.count)
    }

    private mutating func receivedTick(at time: HostTime) {
        ticks += 1
        lastTick = time
        // The first clock after Start is the song's top, whatever else is thought of it.
        let isTop = song.motion == .pending
        song.tick(nextTick, at: time)
        switch tracker.arrived(at: time.microseconds) {
        case nil: break
        case .shifted(let first, let distance): song.ticksRenumbered(from: first, by: distance)
        case .recounted:
            if let number = tracker.number(ofArrivalAt: song.originTime.microseconds) { song.originRenumbered(number) }
        }
        if isTop, let number = tracker.number(ofArrivalAt: time.microseconds) { song.originRenumbered(number) }
        judge()
    }

    private mutating func judge() {
        guard let estimate else {
            state = .waiting
            return
        }
        let tempo = 2 * estimate.periodDeviation / estimate.microsecondsPerTick
        let phase = 2 * estimate.phaseDeviation / estimate.microsecondsPerTick
        if state == .locked {
            // A change of tempo leaves few ticks to judge by for a moment; that is no reason to let go.
            state = tempo < 0.1 && phase < 0.5 && estimate.isWithinRange ? .locked : .settling
        } else {
            let isKnown = tempo < 0.005 && phase < 0.1 && estimate.window >= Self.fewestToLock
            let isClock = estimate.jitter < Self.mostJitter * estimate.microsecondsPerTick && tracker.unrest < 0.25
            state = isKnown && isClock && tracker.isOnLine && estimate.isWithinRange ? .locked : .settling
        }
    }
}

extension Int64 {
    /// The value without the one whose magnitude no `Int64` can hold.
    fileprivate var clamped: Int64 { Swift.max(self, -.max) }
}
