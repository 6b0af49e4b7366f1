public import BeatTime

/// Where ticks fall: 24 to a beat on an unbroken numbering, tick `tickOrigin` at `timeOrigin`.
///
/// Ticks keep their numbers when the beat they belong to is renamed (a Start that makes some tick beat 0, another
/// session whose beats count differently), so whoever sends them can simply go on with the next number.
@frozen
public struct TickLine: Hashable, Sendable, BitwiseCopyable {
    /// 60 060 to 3 000 000.
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
    /// One exact division, so the millionth tick is as true as the first. Nothing here can overflow: origins from
    /// the network are bounded by 2^53 microseconds or microbeats before they become a line.
    public func time(ofTick tick: Int64) -> HostTime {
        let distance = (tick - tickOrigin) &* microsecondsPerBeat
        return timeOrigin.advanced(byMicroseconds: -(-distance).floorDivided(by: Self.ticksPerBeat))
    }

    /// The first tick that does not fall before a time.
    public func firstTick(atOrAfter time: HostTime) -> Int64 {
        let elapsed = timeOrigin.microseconds(to: time) &* Self.ticksPerBeat
        // time(ofTick:) rounds up, so a tick still counts as not before `time` when it falls inside the
        // microsecond that ends there.
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

extension Int64 {
    /// The quotient rounded towards negative infinity; the divisor must be positive.
    func floorDivided(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
