internal import CSystemd

extension csystemd {
    /// Appends a value to a message.
    ///
    /// - Returns: a negative errno if that fails.
    func append(_ value: BusValue, to message: OpaquePointer) -> Int32 {
        switch value {
        case .bool(let isTrue):
            var number: Int32 = isTrue ? 1 : 0
            return bus_message_append_basic(message, CChar(type: "b"), &number)
        case .uint16(var number): return bus_message_append_basic(message, CChar(type: "q"), &number)
        case .int32(var number): return bus_message_append_basic(message, CChar(type: "i"), &number)
        case .uint32(var number): return bus_message_append_basic(message, CChar(type: "u"), &number)
        case .int64(var number): return bus_message_append_basic(message, CChar(type: "x"), &number)
        case .uint64(var number): return bus_message_append_basic(message, CChar(type: "t"), &number)
        case .string(let text): return bus_message_append_basic(message, CChar(type: "s"), text)
        case .objectPath(let text): return bus_message_append_basic(message, CChar(type: "o"), text)
        case .byteStrings(let texts): return append(texts, to: message)
        case .variant(let value): return append(variant: value, to: message)
        case .properties(let values): return append(values, to: message)
        }
    }

    private func append(_ texts: [String], to message: OpaquePointer) -> Int32 {
        var result = bus_message_open_container(message, CChar(type: "a"), "ay")
        for text in texts where result >= 0 {
            result = bus_message_append_array(message, CChar(type: "y"), text, text.utf8.count)
        }
        return result < 0 ? result : bus_message_close_container(message)
    }

    private func append(variant value: BusValue, to message: OpaquePointer) -> Int32 {
        var result = bus_message_open_container(message, CChar(type: "v"), value.signature)
        if result >= 0 { result = append(value, to: message) }
        return result < 0 ? result : bus_message_close_container(message)
    }

    private func append(_ values: [String: BusValue], to message: OpaquePointer) -> Int32 {
        var result = bus_message_open_container(message, CChar(type: "a"), "{sv}")
        for (name, value) in values.sorted(by: { $0.key < $1.key }) where result >= 0 {
            result = bus_message_open_container(message, CChar(type: "e"), "sv")
            if result >= 0 { result = bus_message_append_basic(message, CChar(type: "s"), name) }
            if result >= 0 { result = append(variant: value, to: message) }
            if result >= 0 { result = bus_message_close_container(message) }
        }
        return result < 0 ? result : bus_message_close_container(message)
    }

    /// Reads the next value of a message; nil at the end, and before a value that we do not read.
    func nextValue(of message: OpaquePointer) -> BusValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard bus_message_peek_type(message, &type, &contents) > 0 else { return nil }
        switch Unicode.Scalar(UInt8(bitPattern: type)) {
        case "b":
            let number: Int32? = number(of: type, in: message)
            return number.map { .bool($0 != 0) }
        case "q": return number(of: type, in: message).map { .uint16($0) }
        case "i": return number(of: type, in: message).map { .int32($0) }
        case "u": return number(of: type, in: message).map { .uint32($0) }
        case "x": return number(of: type, in: message).map { .int64($0) }
        case "t": return number(of: type, in: message).map { .uint64($0) }
        case "s": return text(of: type, in: message).map { .string($0) }
        case "o": return text(of: type, in: message).map { .objectPath($0) }
        case "v":
            guard let contents, bus_message_enter_container(message, type, contents) > 0,
                let value = nextValue(of: message), bus_message_exit_container(message) >= 0
            else { return nil }
            return value
        default: return nil
        }
    }

    private func number<Number: FixedWidthInteger>(of type: CChar, in message: OpaquePointer) -> Number? {
        var number: Number = 0
        return bus_message_read_basic(message, type, &number) > 0 ? number : nil
    }

    private func text(of type: CChar, in message: OpaquePointer) -> String? {
        var text: UnsafePointer<CChar>?
        guard bus_message_read_basic(message, type, &text) > 0 else { return nil }
        return text.map { String(cString: $0) }
    }
}

extension BusValue {
    /// Its type, as a variant names it.
    fileprivate var signature: String {
        switch self {
        case .bool: "b"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .string: "s"
        case .objectPath: "o"
        case .byteStrings: "aay"
        case .variant: "v"
        case .properties: "a{sv}"
        }
    }
}

extension CChar {
    /// A type's letter in a signature.
    fileprivate init(type letter: Unicode.Scalar) { self = CChar(bitPattern: UInt8(ascii: letter)) }
}
