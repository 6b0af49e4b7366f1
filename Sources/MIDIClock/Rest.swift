/// The part of a song in which an output's device is stopped, while its clock goes on as for a stopped song.
///
/// Both ends are ticks from the song's beat 0, and should be bars: the device is stopped before the first tick, and enters
/// at the bar that begins with the second.
///
/// ```swift
/// let bars = Rest(from: 2 * 96, until: 4 * 96)
/// assert(bars.contains(300) && !bars.contains(384))
/// assert(!Rest.none.contains(0))
/// ```
@frozen
public struct Rest: Hashable, Sendable, BitwiseCopyable {
    /// The first tick in which it does not play; `Int64.min` from the beginning of any song.
    public var from: Int64
    /// The first tick in which it plays again; `Int64.max` if that is not known.
    public var until: Int64

    public init(from: Int64, until: Int64) { (self.from, self.until) = (from, until) }

    public static let none = Rest(from: .max, until: .max)
    /// The whole of any song.
    public static let all = Rest(from: .min, until: .max)

    public func contains(_ tick: Int64) -> Bool { (from..<max(from, until)).contains(tick) }
}
