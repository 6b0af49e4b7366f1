internal import MIDIClock

/// Bytes on their way to a line that may take only some of them: what is left leaves first the next time.
struct LineBytes: Hashable, BitwiseCopyable {
    /// The first byte lowest.
    private(set) var word: UInt64 = 0
    /// At most the two that are left of one message, and the three of another.
    private(set) var count = 0

    /// Adds a message as it travels.
    mutating func append(_ message: ClockMessage) {
        let (bytes, length) = message.wire
        word |= UInt64(bytes) << UInt64(8 * count)
        count += length
    }

    /// Takes away the bytes that the line has taken.
    mutating func removeFirst(_ taken: Int) {
        word >>= UInt64(8 * taken)
        count -= taken
    }

    /// What is to be kept of these bytes after the last message, when the line has taken only the first ones.
    ///
    /// A message that was begun has to be finished, so that nobody takes its rest for something else; one that was not
    /// is given up.
    ///
    /// - Parameters:
    ///   - taken: how many bytes the line has taken.
    ///   - message: the last that was added.
    /// - Returns: nothing but the rest of a message that was begun.
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
