public import BeatTime

/// Follows a MIDI clock leader: takes stamped messages, and estimates tempo, beat and how far they may be off.
///
/// Every tick is counted, in order. Programs and radio links send ticks late, never early, often several together; how
/// coarse they are is learned from the ticks. The tempo is the middle of all tempos at which no tick of the last 16
/// beats was early or later than that. After a change of tempo only newer ticks count. A clock that arrives twice is
/// followed at its true tempo.
///
/// A value for one thread that allocates nothing after `init` while its leader is steady. It reads no clock: call
/// ``timePassed(to:)`` at ``lostAt`` to notice silence.
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
        /// Tempo and beat are known: the next beat, to within the coarseness of the ticks or 2 ms.
        ///
        /// It stays locked through a change of tempo.
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
    private var twins = TwinFilter()
    private var ticks: Int64 = 0
    private var refused: Int64 = 0
    private var lastTick: HostTime?

    /// Limit for times before and after zero, in microseconds.
    private static let furthest: Int64 = 1 << 53

    /// A follower without any messages.
    ///
    /// - Parameter period: the leader's audio period in microseconds, if that is known: at tempos of which a tick is
    ///   nearly a multiple of it, the ticks alone do not show for many beats how coarse they are. 0 to 100 000.
    public init(period: Double = 0) {
        self.period = period
    }

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
        if twins.isTwin(message, at: time.microseconds) { return }
        switch message {
        case .timingClock: receivedTick(at: time)
        case .start:
            song.start()
            tracker.gridMayMove()
        case .continue:
            song.resume()
            tracker.gridMayMove()
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
        guard let lostAt, now >= lostAt else { return }
        state = tracker.line == nil ? .waiting : .lost
        if state == .waiting { lastTick = nil }
    }

    /// When the leader counts as lost unless a tick arrives: 250 ms or four ticks after the last, whichever is longer.
    ///
    /// Without a tempo it is a second. Nil while there is nothing to lose.
    public var lostAt: HostTime? {
        guard let lastTick else { return nil }
        guard let line = tracker.line else { return lastTick.advanced(byMicroseconds: 1_000_000) }
        return lastTick.advanced(byMicroseconds: max(250_000, roundedToInteger(4 * line.slope)))
    }

    /// Number of the next tick, unless one is lost before it.
    public var nextTick: Int64 { tracker.nextNumber }

    /// Number of recent ticks that ``tick(ago:)`` can return: at most 384.
    package var ticksHeard: Int { tracker.history.count }

    /// One of the recent ticks, with its present number; a Timing Clock that was no tick has the number of the one before.
    ///
    /// - Parameter age: number of ticks after it, below ``ticksHeard``.
    /// - Returns: its number and its time of arrival.
    package func tick(ago age: Int) -> (number: Int64, time: HostTime) {
        (tracker.history[age].number, HostTime(microseconds: tracker.history[age].time))
    }

    /// Counts so far.
    public var counts: Counts {
        Counts(ticks: ticks, lost: tracker.lost, extra: tracker.extra, refused: refused)
    }

    /// Whether each message arrives twice, up to 8.5 ms or three tenths of a tick apart; the second copies are left out.
    public var arrivesTwice: Bool { twins.distance != nil }

    /// What the newest ticks look like, which tells why a clock is not followed.
    public var pattern: TickPattern { TickPattern(tracker.history) }

    /// The leader's audio period in microseconds, if it is known; see ``init(period:)``.
    public var period: Double {
        get { tracker.period }
        set { tracker.period = newValue > 0 ? min(newValue, 100_000) : 0 }
    }

    /// The estimate, from the third tick on; it is kept when the leader is lost.
    public var estimate: ClockEstimate? {
        guard let line = tracker.line else { return nil }
        let tick = tracker.history.newest.number
        let (time, fraction) = line.time(ofTick: tick)
        return ClockEstimate(
            tick: tick, time: HostTime(microseconds: time), fraction: fraction, microsecondsPerTick: line.slope,
            periodDoubt: line.slopeDoubt, phaseDoubt: line.nextBeatDoubt, coarseness: tracker.coarseness,
            jitter: line.jitter, window: line.count)
    }

    private mutating func receivedTick(at time: HostTime) {
        ticks += 1
        lastTick = time
        switch twins.take(time.microseconds) {
        case .tick: break
        case .twin: return tracker.leaveOut()
        case .begins(let isTwin, let arrivals, let isFirstSingle):
            let first = nextTick &- arrivals &+ (isFirstSingle ? 1 : 0)
            let number = { (old: Int64) in old < first ? old : first &+ (old &- first).floorDivided(by: 2) }
            song.ticksRenumbered(to: number)
            tracker.beginAnew(at: number(nextTick &- 1) &+ 1)
            if isTwin { return judge() }
        }
        tracker.arrives(at: time.microseconds)
        song.tick(nextTick)
        if let change = tracker.arrived(at: time.microseconds) {
            song.ticksRenumbered(from: change.first, by: change.distance)
        }
        judge()
    }

    private mutating func judge() {
        guard let line = tracker.line else {
            state = tracker.history.count >= 3 ? .settling : .waiting
            return
        }
        let tolerated = max(tracker.coarseness, 2_000)
        if state == .locked {
            // After a change of tempo few ticks are left for a moment; that is no reason to unlock.
            state = line.count == 0 || line.nextBeatDoubt <= 4 * tolerated ? .locked : .settling
        } else {
            let isKnown = line.count >= TickTracker.fewest && line.nextBeatDoubt <= tolerated
            let isPlausible = estimate?.isWithinRange == true && tracker.coarseness <= tracker.mostCoarse
            state = isKnown && line.isRegular && isPlausible && tracker.history.asideCount == 0 ? .locked : .settling
        }
    }
}

extension Int64 {
    /// The value; `.min` becomes `-.max`, so that its magnitude fits.
    fileprivate var clamped: Int64 { Swift.max(self, -.max) }
}
