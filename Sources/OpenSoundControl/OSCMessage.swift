internal import CLO

/// A message of Open Sound Control 1.0.
package struct OSCMessage: Hashable, Sendable {
    /// The address as received, such as `/tactus/tap`.
    package var address: String
    package var arguments: [Argument]

    package init(_ address: String, _ arguments: [Argument] = []) {
        self.address = address
        self.arguments = arguments
    }

    package enum Argument: Hashable, Sendable {
        /// Any number; 1 or 0 for true and false.
        case number(Double)
        case text(String)
        /// Blobs, time tags and all other types.
        case other
    }
}

extension OSCMessage {
    /// Most messages in one packet.
    private static let most = 64
    /// Deepest nesting of bundles.
    private static let deepest = 4
    /// The beginning of a bundle; a time tag follows.
    private static let bundle = Array("#bundle\0".utf8)

    /// Reads a packet: a message, or a bundle of several.
    ///
    /// Time tags are ignored: messages take effect on arrival.
    ///
    /// - Parameter packet: any bytes.
    /// - Returns: the messages in order; nil if any part is not valid Open Sound Control, or exceeds the limits.
    package static func messages(in packet: some Collection<UInt8>) -> [OSCMessage]? {
        var messages: [OSCMessage] = []
        return read(Array(packet), depth: 0, into: &messages) ? messages : nil
    }

    private static func read(_ packet: [UInt8], depth: Int, into messages: inout [OSCMessage]) -> Bool {
        guard packet.starts(with: bundle) else {
            guard messages.count < most, let message = message(in: packet) else { return false }
            messages.append(message)
            return true
        }
        guard depth < deepest, packet.count >= 16 else { return false }
        var rest = packet[16...]
        while !rest.isEmpty {
            guard rest.count >= 4 else { return false }
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard length > 0, length <= rest.count else { return false }
            guard read(Array(rest.prefix(length)), depth: depth + 1, into: &messages) else { return false }
            rest = rest.dropFirst(length)
        }
        return true
    }

    private static func message(in packet: [UInt8]) -> OSCMessage? {
        guard packet.first == UInt8(ascii: "/"), let end = packet.firstIndex(of: 0) else { return nil }
        var bytes = packet
        let read = bytes.withUnsafeMutableBytes { lo_message_deserialise($0.baseAddress, $0.count, nil) }
        guard let read else { return nil }
        defer { lo_message_free(read) }
        let (count, values) = (Int(lo_message_get_argc(read)), lo_message_get_argv(read))
        guard let types = lo_message_get_types(read) else { return nil }
        return OSCMessage(
            String(decoding: packet[..<end], as: UTF8.self),
            (0..<count).map { Argument(type: types[$0], values?[$0]) })
    }
}

extension OSCMessage.Argument {
    fileprivate init(type: CChar, _ value: UnsafePointer<lo_arg>?) {
        var number = 0.0
        if clo_number(type, value, &number) != 0 {
            self = .number(number)
        } else if let text = clo_text(type, value) {
            self = .text(String(cString: text))
        } else {
            self = .other
        }
    }
}
