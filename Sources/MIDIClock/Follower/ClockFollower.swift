public import BeatTime

/// Follows a MIDI clock leader: takes stamped messages, and estimates tempo, beat and their uncertainty.
///
/// The estimate is a robust least-squares line through the longest run of newest ticks that form one line. While the
/// leader is steady the run is long, and the estimate calm. When ticks show a change of tempo the run becomes short,
/// and the estimate fast. Lost, late and doubled ticks are told from changes of tempo before they can bend the line,
/// and do not disturb the count of ticks. Swing in the clock is learned and subtracted.
///
/// A value for one thread that allocates nothing after `init`. It reads no clock: call ``timePassed(to:)`` at
/// ``lostAt`` to notice silence.
///
/// ```swift
/// var follower = ClockFollower()
/// for tick: Int64 in 0..<96 { follower.received(.timingClock, at: HostTime(microseconds: tick * 20_000)) }
/// assert(follower.state == .locked)
/// assert(follower.estimate?.beatsPerMinute.rounded() == 125)
/// ```
public struct ClockFollower: Sendable {
    /// How well the leader's clock is known.
    ///
    /// ```swift
    /// var follower = ClockFollower()
    /// assert(follower.state == .waiting)
    /// for tick: Int64 in 0..<3 { follower.received(.timingClock, at: HostTime(microseconds: tick * 20_000)) }
    /// assert(follower.state == .settling)
    /// ```
    public enum State: Hashable, Sendable, BitwiseCopyable {
        /// No tempo yet.
        case waiting
        /// Ticks arrive, but the tempo is not yet clear.
        case settling
        /// Tempo and beat are known.
        ///
        /// At that moment, twice their deviation is less than 0.5 % of the tempo and a tenth of a tick.
        case locked
        /// Ticks have stopped; the last estimate is kept.
        case lost
    }

    /// Counts since the follower was created.
    ///
    /// ```swift
    /// var follower = ClockFollower()
    /// follower.received(.timingClock, at: HostTime(microseconds: 0))
    /// assert(follower.counts == ClockFollower.Counts(ticks: 1))
    /// ```
    public struct Counts: Hashable, Sendable, BitwiseCopyable {
        /// Timing Clocks.
        public var ticks: Int64 = 0
        /// Missing ticks, judged by the time without them.
        public var lost: Int64 = 0
        /// Timing Clocks that were not ticks: duplicates, or noise on the line.
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

    /// How well the leader's clock is known, as of the last message or ``timePassed(to:)``.
    public private(set) var state: State = .waiting
    /// The song position, from the leader's transport messages.
    public private(set) var song = FollowedSong()
    private var tracker = TickTracker()
    private var ticks: Int64 = 0
    private var refused: Int64 = 0
    private var lastTick: HostTime?

    /// Limit for times before and after zero, in microseconds.
    private static let furthest: Int64 = 1 << 53
    /// Most jitter of a clock's ticks, as a share of the period; with more it does not count as a clock.
    private static let mostJitter = 0.2
    /// Fewest ticks to lock, half a beat: fewer may be one half of a swing.
    private static let fewestToLock = 12

    /// A follower without any messages.
    public init() {}

    /// Processes a message of the leader.
    ///
    /// - Parameters:
    ///   - message: in order of arrival.
    ///   - time: when it arrived; more than 2^53 microseconds from zero is counted and ignored.
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

    /// Notes that an unknown number of messages was lost before the next one, by an overflow of the input.
    ///
    /// The number of lost ticks is estimated from the time without them.
    public mutating func messagesLost() { tracker.ticksMayBeLost() }

    /// Notes that no tick arrived until now.
    public mutating func timePassed(to now: HostTime) {
        guard state != .waiting, let lostAt, now >= lostAt else { return }
        state = .lost
    }

    /// When the leader counts as lost unless a tick arrives: 250 ms or four ticks after the last, whichever is longer.
    ///
    /// Nil while there is nothing to lose.
    public var lostAt: HostTime? {
        guard let lastTick, let fit = tracker.fit else { return nil }
        return lastTick.advanced(byMicroseconds: max(250_000, roundedToInteger(4 * fit.period)))
    }

    /// Number of the next tick, unless one is lost before it.
    public var nextTick: Int64 { tracker.nextNumber }

    /// Number of recent ticks that ``tick(ago:)`` can return: at most 256, fewer after a restart of the clock.
    package var ticksHeard: Int { tracker.heard.count }

    /// One of the recent ticks, with its present number; rejected Timing Clocks are not included.
    ///
    /// - Parameter age: number of ticks after it, below ``ticksHeard``.
    /// - Returns: its number and its time of arrival.
    package func tick(ago age: Int) -> (number: Int64, time: HostTime) {
        (tracker.heard[age].number, tracker.heard[age].time(0))
    }

    /// Counts so far.
    public var counts: Counts {
        Counts(ticks: ticks, lost: tracker.lost, extra: tracker.extra, refused: refused)
    }

    /// The estimate, from the second tick on; it is kept when the leader is lost.
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
        // The first clock after Start is the beginning of the song, whether it is accepted as a tick or not.
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
            // After a change of tempo few ticks are left for a moment; that is no reason to unlock.
            state = tempo < 0.1 && phase < 0.5 && estimate.isWithinRange ? .locked : .settling
        } else {
            let isKnown = tempo < 0.005 && phase < 0.1 && estimate.window >= Self.fewestToLock
            let isClock = estimate.jitter < Self.mostJitter * estimate.microsecondsPerTick && tracker.unrest < 0.25
            state = isKnown && isClock && tracker.isOnLine && estimate.isWithinRange ? .locked : .settling
        }
    }
}

extension Int64 {
    /// The value; `.min` becomes `-.max`, so that its magnitude fits.
    fileprivate var clamped: Int64 { Swift.max(self, -.max) }
}
