/// A point on a microsecond clock; each conforming type stands for one clock.
///
/// Link's arithmetic is the same on host time and on ghost time, so ``Timeline`` is generic over this protocol.
/// Because the two are separate types, they cannot be mixed up.
///
/// ```swift
/// func span<Time: Instant>(_ first: Time, _ last: Time) -> Int64 { first.microseconds(to: last) }
///
/// assert(span(HostTime(microseconds: 1_000), HostTime(microseconds: 3_500)) == 2_500)
/// ```
public protocol Instant: Hashable, Comparable, Sendable {
    /// Microseconds since the clock's own zero.
    var microseconds: Int64 { get }
    init(microseconds: Int64)
}

extension Instant {
    @inlinable
    public static func < (left: Self, right: Self) -> Bool { left.microseconds < right.microseconds }

    /// This instant moved later by a number of microseconds, or earlier if the number is negative.
    @inlinable
    public func advanced(byMicroseconds distance: Int64) -> Self {
        Self(microseconds: microseconds &+ distance)
    }

    /// Microseconds from this instant to another, negative if the other is earlier.
    @inlinable
    public func microseconds(to other: Self) -> Int64 { other.microseconds &- microseconds }
}

/// A time on this machine's Link clock: microseconds of CLOCK_MONOTONIC_RAW, truncated.
///
/// Linux cannot sleep until a time on this clock, so `RealTime` converts it to CLOCK_MONOTONIC first.
///
/// ```swift
/// let time = HostTime(microseconds: 1_000_000)
/// assert(time.advanced(byMicroseconds: -500) < time)
/// ```
@frozen
public struct HostTime: Instant {
    public var microseconds: Int64

    @inlinable
    public init(microseconds: Int64) { self.microseconds = microseconds }
}

/// A time on a Link session's imagined common clock, in microseconds since the session was founded.
///
/// ```swift
/// let founded = GhostTime(microseconds: 0)
/// assert(founded.microseconds(to: GhostTime(microseconds: 2_000_000)) == 2_000_000)
/// ```
@frozen
public struct GhostTime: Instant {
    public var microseconds: Int64

    @inlinable
    public init(microseconds: Int64) { self.microseconds = microseconds }
}
