/// Finds clock messages in a stream of MIDI bytes (MIDI 1.0).
///
/// It stores at most two bytes, so no stream can make it grow. Incomplete and invalid messages are skipped.
///
/// ```swift
/// var parser = ClockByteParser()
/// let bytes: [UInt8] = [0xFA, 0xF8, 0xF2, 0x10, 0x00]
/// let messages = bytes.compactMap { parser.received($0) }
/// assert(messages == [.start, .timingClock, .songPosition(16)])
/// ```
public struct ClockByteParser: Hashable, Sendable, BitwiseCopyable {
    private var state = State.other

    private enum State: Hashable, BitwiseCopyable {
        /// Data bytes belong to some other message: a channel message, running status, System Exclusive.
        case other
        /// The next data byte is the low one of a Song Position Pointer.
        case position
        /// The next data byte is the high one; this is the low one.
        case positionHigh(low: UInt8)
    }

    public init() {}

    /// Takes the next byte of the stream.
    ///
    /// - Parameter byte: any value.
    /// - Returns: the message that this byte completes.
    public mutating func received(_ byte: UInt8) -> ClockMessage? {
        switch byte {
        // System Real-Time: allowed between the bytes of any other message, without interrupting it.
        case 0xF8: return .timingClock
        case 0xFA: return .start
        case 0xFB: return .continue
        case 0xFC: return .stop
        case 0xF9, 0xFD...0xFF: return nil
        case 0xF2: state = .position
        case 0x80...0xF7: state = .other
        default: return receivedData(byte)
        }
        return nil
    }

    private mutating func receivedData(_ byte: UInt8) -> ClockMessage? {
        switch state {
        case .other: return nil
        case .position:
            state = .positionHigh(low: byte)
            return nil
        case .positionHigh(let low):
            // System Common messages have no running status, so the next one needs its own status byte.
            state = .other
            return .songPosition(UInt16(byte) << 7 | UInt16(low))
        }
    }
}
