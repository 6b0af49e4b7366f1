internal import MIDIClock

/// Bytes to write to a line, which may accept only the first ones.
///
/// The others are sent before the next message.
struct LineBytes: Hashable, BitwiseCopyable {
    /// The bytes; the first one is the lowest byte.
    private(set) var word: UInt64 = 0
    /// Number of bytes: up to two left of one message, and three of the next.
    private(set) var count = 0

    /// Appends the bytes of a message.
    mutating func append(_ message: ClockMessage) {
        let (bytes, length) = message.wire
        word |= UInt64(bytes) << UInt64(8 * count)
        count += length
    }

    /// The bytes to keep when the line has accepted only the first ones.
    ///
    /// A message that was partly accepted must be completed, or the device would misread what follows. A message that
    /// was not begun is dropped.
    ///
    /// - Parameters:
    ///   - taken: the number of bytes that the line has accepted.
    ///   - message: the last one appended.
    /// - Returns: the rest of a message that was begun, or nothing.
    func rest(afterTaking taken: Int, of message: ClockMessage) -> LineBytes {
        var rest = self
        let older = count - message.wire.count
        if taken <= older {
            rest.count = older
            rest.word &= 1 << UInt64(8 * older) - 1
        }
        rest.word >>= UInt64(8 * taken)
        rest.count -= taken
        return rest
    }
}
