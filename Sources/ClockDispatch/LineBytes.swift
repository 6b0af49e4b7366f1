internal import MIDIClock

/// Bytes for a line that may accept only some; the rest goes first the next time.
struct LineBytes: Hashable, BitwiseCopyable {
    /// The bytes, the first one lowest.
    private(set) var word: UInt64 = 0
    /// Up to two bytes left of one message, and three of the next.
    private(set) var count = 0

    /// Appends the bytes of a message.
    mutating func append(_ message: ClockMessage) {
        let (bytes, length) = message.wire
        word |= UInt64(bytes) << UInt64(8 * count)
        count += length
    }

    /// Removes the bytes that the line has accepted.
    mutating func removeFirst(_ taken: Int) {
        word >>= UInt64(8 * taken)
        count -= taken
    }

    /// The bytes to keep after the last message, when the line has accepted only the first ones.
    ///
    /// A message that was begun must be finished, or its rest would be taken for something else. One that was not begun
    /// is dropped.
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
        rest.removeFirst(taken)
        return rest
    }
}
