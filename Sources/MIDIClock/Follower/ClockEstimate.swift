public import BeatTime

/// A ``ClockFollower``'s estimate of its leader's time: position, tempo, and how far the truth may be from them.
///
/// Ticks are numbered as the leader sent them, starting with 0 at the first one heard. Start and Stop do not interrupt
/// the numbering. The estimated time of a tick is when it was sent if the earliest ticks were not delayed.
///
/// ```swift
/// var follower = ClockFollower()
/// for tick: Int64 in 0..<96 { follower.received(.timingClock, at: HostTime(microseconds: tick * 20_000)) }
/// if let estimate = follower.estimate {
///     assert(estimate.microsecondsPerTick.rounded() == 20_000)
///     assert(estimate.position(at: HostTime(microseconds: 1_000_000)).rounded() == 50)
/// }
/// ```
@frozen
public struct ClockEstimate: Hashable, Sendable, BitwiseCopyable {
    /// Number of the newest tick.
    public var tick: Int64
    /// Estimated time of that tick, from all ticks of the window, in whole microseconds.
    public var time: HostTime
    /// To be added to ``time``, in microseconds; 0 or more, and below 1.
    public var fraction: Double
    /// Microseconds from one tick to the next.
    public var microsecondsPerTick: Double
    /// How far ``microsecondsPerTick`` may be off.
    public var periodDoubt: Double
    /// How far the time of a tick one beat ahead may be off, in microseconds; infinite if that cannot be told yet.
    public var phaseDoubt: Double
    /// Longest time that the leader's ticks wait before they are sent or arrive, in microseconds.
    ///
    /// That is its audio period, the distance of its radio packets, its swing, or about six times its random jitter.
    public var coarseness: Double
    /// Standard deviation of a tick's delay, in microseconds.
    public var jitter: Double
    /// Number of ticks the estimate is based on, up to 384.
    public var window: Int

    /// Measured tempo in BPM; it may be outside Link's range.
    public var beatsPerMinute: Double { 2_500_000 / microsecondsPerTick }

    /// Whether the tempo is in Link's range, with 1 % of tolerance for measurement errors.
    var isWithinRange: Bool { (19.8...1_009).contains(beatsPerMinute) }

    /// How far ``beatsPerMinute`` may be off.
    public var tempoDoubt: Double { beatsPerMinute * periodDoubt / microsecondsPerTick }

    /// The exact time of a tick in microseconds of host time.
    public func microseconds(ofTick number: Int64) -> Double {
        Double(time.microseconds) + fraction + Double(number &- tick) * microsecondsPerTick
    }

    /// The position at a time, in ticks with their fraction.
    public func position(at now: HostTime) -> Double {
        Double(tick) + (Double(time.microseconds(to: now)) - fraction) / microsecondsPerTick
    }

    /// The estimate as a line for planners: whole microseconds per beat, within Link's 20 to 999 BPM.
    ///
    /// Rounding moves a tick by up to half a microsecond per beat from ``tick``, so read the line again as time passes.
    public var line: TickLine {
        TickLine(
            microsecondsPerBeat: Tempo(beatsPerMinute: beatsPerMinute).clamped.microsecondsPerBeat,
            timeOrigin: time, tickOrigin: tick)
    }
}
