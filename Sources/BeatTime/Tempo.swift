/// A tempo as people state it, in beats per minute.
///
/// All arithmetic uses ``microsecondsPerBeat``, the whole number that also travels between Link peers. The stated
/// number is kept beside it, because 123.4 BPM should read 123.4 where it was typed.
///
/// ```swift
/// let tempo = Tempo(beatsPerMinute: 123.4)
/// assert(tempo.microsecondsPerBeat == 486_224)
/// assert(Tempo(beatsPerMinute: 1_500).clamped.beatsPerMinute == 999)
/// ```
@frozen
public struct Tempo: Hashable, Comparable, Sendable {
    /// Beats per minute.
    public var beatsPerMinute: Double

    @inlinable
    public init(beatsPerMinute: Double) { self.beatsPerMinute = beatsPerMinute }

    /// The tempo for a beat length in whole microseconds.
    ///
    /// - Parameter microsecondsPerBeat: at least 1 for a tempo that makes sense; ``clamped`` makes one of any other, as
    ///   other Link programs do: 999 BPM of 0, and 20 BPM of a negative one.
    @inlinable
    public init(microsecondsPerBeat: Int64) { beatsPerMinute = 60_000_000 / Double(microsecondsPerBeat) }

    /// What Link allows: 20 to 999 beats per minute.
    public static let allowed = 20.0...999.0

    /// The length of a beat in microseconds, rounded; 60 060 to 3 000 000 for a clamped tempo.
    @inlinable
    public var microsecondsPerBeat: Int64 { roundedToInteger(60_000_000 / beatsPerMinute) }

    /// This tempo, limited to the range that Link allows; NaN becomes 20.
    @inlinable
    public var clamped: Tempo {
        guard beatsPerMinute >= 20 else { return Tempo(beatsPerMinute: 20) }
        return Tempo(beatsPerMinute: min(beatsPerMinute, 999))
    }

    @inlinable
    public static func < (left: Tempo, right: Tempo) -> Bool { left.beatsPerMinute < right.beatsPerMinute }
}
