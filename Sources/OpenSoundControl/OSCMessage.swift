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
    /// Reads a message; nil if it is not valid Open Sound Control.
    init?(_ packet: ArraySlice<UInt8>) {
        guard packet.first == UInt8(ascii: "/"), let end = packet.firstIndex(of: 0) else { return nil }
        let address = String(decoding: packet[..<end], as: UTF8.self)
        let rest = packet.dropFirst((end - packet.startIndex + 4) / 4 * 4)
        guard rest.first == UInt8(ascii: ",") else {
            guard let arguments = Argument.untyped(rest) else { return nil }
            self.init(address, arguments)
            return
        }
        var bytes = Array(packet)
        let read = bytes.withUnsafeMutableBytes { lo_message_deserialise($0.baseAddress, $0.count, nil) }
        guard let read else { return nil }
        defer { lo_message_free(read) }
        let (count, values) = (Int(lo_message_get_argc(read)), lo_message_get_argv(read))
        guard let types = lo_message_get_types(read) else { return nil }
        self.init(address, (0..<count).map { Argument(type: types[$0], values?[$0]) })
    }
}

extension OSCMessage.Argument {
    /// The value of a message that does not say its type, as some senders leave that out; nil if it is not plain.
    ///
    /// Four bytes are a whole number below 2^23, which as a float would be none, or else a float.
    fileprivate static func untyped(_ bytes: ArraySlice<UInt8>) -> [Self]? {
        if bytes.isEmpty { return [] }
        if bytes.count == 4 {
            let bits = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            let (whole, float) = (Int32(bitPattern: bits), Float(bitPattern: bits))
            if abs(Int(whole)) < 1 << 23 { return [.number(Double(whole))] }
            if abs(float) < 0x1p23 { return [.number(Double(float))] }
        }
        let text = bytes.prefix { $0 != 0 }
        let padding = bytes.count - text.count
        guard (1...4).contains(padding), bytes.count % 4 == 0, !text.isEmpty,
            bytes.suffix(padding).allSatisfy({ $0 == 0 }),
            let text = String(validating: text, as: UTF8.self)
        else { return nil }
        return [.text(text)]
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
