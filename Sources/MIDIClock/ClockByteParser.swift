/// Finds the messages of a clock in a stream of MIDI bytes, whatever else is in it (MIDI 1.0).
///
/// It holds two bytes at most, so no stream can make it grow; what is cut short or makes no sense is passed over.
public struct ClockByteParser: Hashable, Sendable, BitwiseCopyable {
    private var state = State.other

    private enum State: Hashable, BitwiseCopyable {
        /// Data bytes belong to no message of ours: a channel message, running status, System Exclusive.
        case other
        /// The next data byte is the low one of a Song Position Pointer.
        case position
        /// The next data byte is the high one; this is the low one.
        case positionHigh(low: UInt8)
    }

    public init() {}

    /// Takes the next byte of the stream.
    ///
    /// - Parameter byte: anything.
    /// - Returns: the message that is complete with it.
    public mutating func received(_ byte: UInt8) -> ClockMessage? {
        switch byte {
        // System Real-Time: may fall between the bytes of any other message, and does not interrupt it.
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
            // System Common messages have no running status: what follows needs a status byte of its own.
            state = .other
            return .songPosition(UInt16(byte) << 7 | UInt16(low))
        }
    }
}
