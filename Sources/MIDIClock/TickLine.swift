public import BeatTime

/// Where ticks fall: 24 per beat, numbered without a break, with tick `tickOrigin` at `timeOrigin`.
///
/// Ticks keep their numbers when beats are renumbered, for example when a Start makes some tick beat 0, or in another
/// session. A sender can simply continue with the next number.
///
/// ```swift
/// let line = TickLine(microsecondsPerBeat: 500_000, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)
/// assert(line.time(ofTick: 24) == HostTime(microseconds: 500_000))
/// assert(line.firstTick(atOrAfter: HostTime(microseconds: 1)) == 1)
/// ```
@frozen
public struct TickLine: Hashable, Sendable, BitwiseCopyable {
    /// Length of a beat in microseconds, 60 060 to 3 000 000.
    public var microsecondsPerBeat: Int64
    public var timeOrigin: HostTime
    public var tickOrigin: Int64

    public static let ticksPerBeat: Int64 = 24

    public init(microsecondsPerBeat: Int64, timeOrigin: HostTime, tickOrigin: Int64) {
        self.microsecondsPerBeat = microsecondsPerBeat
        self.timeOrigin = timeOrigin
        self.tickOrigin = tickOrigin
    }

    /// When a tick falls, rounded up to a microsecond.
    ///
    /// A single exact division, so the millionth tick is as exact as the first. It cannot overflow: origins from the
    /// network are limited to 2^53 microseconds or microbeats before.
    public func time(ofTick tick: Int64) -> HostTime {
        let distance = (tick - tickOrigin) &* microsecondsPerBeat
        return timeOrigin.advanced(byMicroseconds: -(-distance).floorDivided(by: Self.ticksPerBeat))
    }

    /// The first tick at or after a time.
    public func firstTick(atOrAfter time: HostTime) -> Int64 {
        let elapsed = timeOrigin.microseconds(to: time) &* Self.ticksPerBeat
        // time(ofTick:) rounds up, so a tick within the microsecond that ends at `time` still counts.
        return tickOrigin + (elapsed - Self.ticksPerBeat).floorDivided(by: microsecondsPerBeat) + 1
    }

    /// The tick nearest to a time.
    public func nearestTick(to time: HostTime) -> Int64 {
        let elapsed = timeOrigin.microseconds(to: time) &* Self.ticksPerBeat
        return tickOrigin + (elapsed &+ microsecondsPerBeat / 2).floorDivided(by: microsecondsPerBeat)
    }

    /// The position at a time in ticks, with its fraction; for display.
    public func position(at time: HostTime) -> Double {
        Double(tickOrigin)
            + Double(timeOrigin.microseconds(to: time)) * Double(Self.ticksPerBeat) / Double(microsecondsPerBeat)
    }

    /// The time between two ticks in microseconds, rounded down.
    public var tickLength: Int64 { microsecondsPerBeat / Self.ticksPerBeat }
}
