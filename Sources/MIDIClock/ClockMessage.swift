/// A message of a MIDI clock (MIDI 1.0: System Real-Time and Song Position Pointer).
///
/// ```swift
/// let (bytes, count) = ClockMessage.songPosition(16).wire
/// assert(bytes == 0x00_10_F2)
/// assert(count == 3)
/// ```
@frozen
public enum ClockMessage: Hashable, Sendable, BitwiseCopyable {
    /// Timing Clock, F8: one tick, 24 to a beat.
    case timingClock
    /// Start, FA: play from the top at the next tick.
    case start
    /// Continue, FB: play from the song position at the next tick.
    case `continue`
    /// Stop, FC.
    case stop
    /// Song Position Pointer, F2, in MIDI beats (sixteenths) from the top: 0 to 16383.
    case songPosition(UInt16)

    /// The message's bytes, first byte lowest in the word, and their number.
    @inlinable
    public var wire: (bytes: UInt32, count: Int) {
        switch self {
        case .timingClock: (0xF8, 1)
        case .start: (0xFA, 1)
        case .continue: (0xFB, 1)
        case .stop: (0xFC, 1)
        case .songPosition(let beats): (0xF2 | UInt32(beats & 0x7F) << 8 | UInt32(beats >> 7 & 0x7F) << 16, 3)
        }
    }
}
