public import BeatTime

/// A passing shift of an output's pulses: while somebody holds it they run a little faster or slower, and then go back to
/// their place at the largest rate at which they were held, at least one percent.
///
/// Times are nominal, before offset and shift are added. A plain value of fixed size.
///
/// ```swift
/// var bend = Bend()
/// bend.turn(to: 40_000, at: HostTime(microseconds: 0))
/// assert(bend.shift(at: HostTime(microseconds: 1_040_000)) == -40_000)  // Faster: earlier and earlier.
/// bend.turn(to: 0, at: HostTime(microseconds: 1_040_000))
/// assert(bend.shift(at: HostTime(microseconds: 2_080_000)) == 0)
/// ```
@frozen
public struct Bend: Hashable, Sendable, BitwiseCopyable {
    /// How much faster it is held, in millionths, limited by ``rates``; negative is slower, 0 is let go.
    public private(set) var rate: Int64 = 0
    /// When it was last turned.
    private var origin = HostTime(microseconds: 0)
    /// The shift at that time, and where it goes, in microseconds.
    private var start: Int64 = 0
    private var end: Int64 = 0
    /// How fast it goes there, in millionths; not negative.
    private var speed: Int64 = 0
    /// How fast it will go back, in millionths.
    private var back: Int64 = 0

    /// How much faster they can be held, in millionths.
    public static let rates: ClosedRange<Int64> = -80_000...80_000
    /// How far pulses are shifted at most, in microseconds.
    public static let farthest: Int64 = 500_000
    /// The slowest way back, in millionths.
    private static let slowestReturn: Int64 = 10_000
    /// Longest time until pulses that are let go are in their place, in microseconds.
    public static let longestReturn = farthest * 1_000_000 / slowestReturn

    public init() {}

    /// By how much pulses at a time are sent later, in microseconds; at most ``farthest`` either way.
    public func shift(at time: HostTime) -> Int64 {
        guard start != end else { return start }
        // What no distance needs is not multiplied, so that nothing overflows.
        let elapsed = min(max(0, origin.microseconds(to: time)), 1_000_000_000_000)
        let moved = elapsed * speed / 1_000_000
        return start < end ? min(end, start + moved) : max(end, start - moved)
    }

    /// Holds it otherwise, or lets it go.
    ///
    /// - Parameters:
    ///   - rate: how much faster, in millionths, clamped to ``rates``.
    ///   - time: from when on.
    public mutating func turn(to rate: Int64, at time: HostTime) {
        let rate = min(max(rate, Self.rates.lowerBound), Self.rates.upperBound)
        (start, origin, self.rate) = (shift(at: time), time, rate)
        end = rate == 0 ? 0 : rate > 0 ? -Self.farthest : Self.farthest
        if start == 0 { back = Self.slowestReturn }
        // Pulses that come so much more often are so much less apart.
        speed = rate == 0 ? back : roundedToInteger(abs(Double(rate)) * 1e6 / Double(1_000_000 + rate))
        back = max(back, speed)
    }

    /// The time that is shifted to another one.
    package func time(shiftedTo time: HostTime) -> HostTime {
        // Each round leaves a twelfth of the error at most: in the end some microseconds.
        var place = time
        for _ in 0..<5 { place = time.advanced(byMicroseconds: -shift(at: place)) }
        return place
    }
}
