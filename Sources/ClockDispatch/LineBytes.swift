/// Bytes to write to a line, which may accept only the first ones.
///
/// The others are sent before the next message.
struct LineBytes: Hashable, BitwiseCopyable {
    /// The bytes; the longest message has ten, of which up to nine may be left when the next is appended.
    private(set) var bytes = SIMD32<UInt8>()
    private(set) var count = 0

    /// Appends the bytes of a message.
    mutating func append(_ message: StreamMessage) {
        let (word, length) = message.wire
        for index in 0..<length { bytes[count + index] = UInt8(truncatingIfNeeded: word >> UInt128(8 * index)) }
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
    func rest(afterTaking taken: Int, of message: StreamMessage) -> LineBytes {
        let older = count - message.wire.count
        let end = taken <= older ? older : count
        var rest = LineBytes()
        for index in taken..<end { rest.bytes[index - taken] = bytes[index] }
        rest.count = end - taken
        return rest
    }
}
