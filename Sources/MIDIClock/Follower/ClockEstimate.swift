public import BeatTime

/// What a ``ClockFollower`` knows of its leader's time: a tick, when it fell, how fast ticks come, and how sure that is.
///
/// Ticks are numbered as the leader sent them, starting with 0 at the first one ever heard; neither Start nor Stop
/// interrupts the numbers. Deviations are standard deviations of the estimates.
@frozen
public struct ClockEstimate: Hashable, Sendable, BitwiseCopyable {
    /// The number of a tick at or near the newest.
    public var tick: Int64
    /// When that tick fell, as all ticks of the window say together, in whole microseconds.
    public var time: HostTime
    /// What to add to ``time``, in microseconds; below 1.
    public var fraction: Double
    /// From one tick to the next, in microseconds.
    public var microsecondsPerTick: Double
    /// Deviation of ``microsecondsPerTick``.
    public var periodDeviation: Double
    /// Deviation of the time of the tick after ``tick``, in microseconds.
    public var phaseDeviation: Double
    /// Deviation of a single stamp of this leader, in microseconds: its jitter and that of its cable.
    public var jitter: Double
    /// How many ticks the estimate rests on, 2 to 256.
    public var window: Int

    /// Beats per minute, as measured: it may lie outside of what Link allows.
    public var beatsPerMinute: Double { 2_500_000 / microsecondsPerTick }

    /// Whether Link allows the tempo, but for a hundredth that may be our error.
    var isWithinRange: Bool { (19.8...1_009).contains(beatsPerMinute) }

    /// Deviation of ``beatsPerMinute``.
    public var tempoDeviation: Double { beatsPerMinute * periodDeviation / microsecondsPerTick }

    /// The exact time of a tick in microseconds of host time.
    public func microseconds(ofTick number: Int64) -> Double {
        Double(time.microseconds) + fraction + Double(number &- tick) * microsecondsPerTick
    }

    /// The position at a time, in ticks with their fraction.
    public func position(at now: HostTime) -> Double {
        Double(tick) + (Double(time.microseconds(to: now)) - fraction) / microsecondsPerTick
    }

    /// The estimate as a line that planners use: tempo in whole microseconds per beat, within Link's 20 to 999 BPM.
    ///
    /// Rounding moves a tick by at most half a microsecond per beat from ``tick``, so take the line anew as it goes.
    public var line: TickLine {
        TickLine(
            microsecondsPerBeat: Tempo(beatsPerMinute: beatsPerMinute).clamped.microsecondsPerBeat,
            timeOrigin: time, tickOrigin: tick)
    }
}
