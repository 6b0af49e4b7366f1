/// What a bus sends, put together to messages; a value.
///
/// The first thing it sends is its answer to ``greeting``, in lines of text.
package struct BusStream {
    /// What a client sends first: it is who the kernel says it is.
    package static let greeting = Array("\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n".utf8)

    private var bytes: [UInt8] = []
    private var isAccepted = false
    private static let longestLine = 1024

    package init() {}

    /// Takes bytes as they come, and returns the messages that are whole now.
    package mutating func take(_ more: some Sequence<UInt8>) throws(MalformedMessage) -> [BusMessage] {
        bytes += more
        while !isAccepted {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
                if bytes.count > Self.longestLine { throw MalformedMessage() }
                return []
            }
            let line = String(decoding: bytes[..<end], as: UTF8.self)
            bytes.removeSubrange(...end)
            isAccepted = line.hasPrefix("OK")
            guard isAccepted || line.hasPrefix("DATA") else { throw MalformedMessage() }
        }
        var messages: [BusMessage] = []
        var start = 0
        defer { bytes.removeSubrange(..<start) }
        while let size = try BusMessage.size(bytes[start...]), bytes.count >= start + size {
            if let message = try BusMessage(bytes[start..<start + size]) { messages.append(message) }
            start += size
        }
        return messages
    }
}
