/// A position or a length in beats (quarter notes), held as whole microbeats.
///
/// ```swift
/// let position = Beats(17.5)
/// assert(position.microbeats == 17_500_000)
/// assert(position.phase(quantum: Beats(4)) == Beats(1.5))
/// ```
@frozen
public struct Beats: Hashable, Comparable, Sendable {
    /// Millionths of a beat.
    public var microbeats: Int64

    @inlinable
    public init(microbeats: Int64) { self.microbeats = microbeats }

    /// Rounds to the nearest microbeat, halves away from zero.
    ///
    /// - Parameter beats: any number; clamped to ±2^61 microbeats, and NaN becomes 0.
    @inlinable
    public init(_ beats: Double) { self.init(microbeats: roundedToInteger(beats * 1e6)) }

    public static let zero = Beats(microbeats: 0)

    /// The value in beats, for display and for calls in the style of Link's API.
    @inlinable
    public var value: Double { Double(microbeats) / 1e6 }

    @inlinable
    public static func < (left: Beats, right: Beats) -> Bool { left.microbeats < right.microbeats }

    @inlinable
    public static func + (left: Beats, right: Beats) -> Beats { Beats(microbeats: left.microbeats &+ right.microbeats) }

    @inlinable
    public static func - (left: Beats, right: Beats) -> Beats { Beats(microbeats: left.microbeats &- right.microbeats) }
}

/// Rounds to the nearest integer, halves away from zero, and never traps.
///
/// All of Link's arithmetic rounds like this. Values beyond ±2^61 are clamped and NaN becomes 0, so that invalid
/// numbers from the network cannot stop the program. Valid input contains neither.
@inlinable
public func roundedToInteger(_ value: Double) -> Int64 {
    let limit = 2_305_843_009_213_693_952.0
    guard !value.isNaN else { return 0 }
    guard value > -limit else { return -2_305_843_009_213_693_952 }
    guard value < limit else { return 2_305_843_009_213_693_952 }
    return Int64(value.rounded(.toNearestOrAwayFromZero))
}
