extension BusMessage {
    private static let noAutoStart: UInt8 = 2

    /// The message as it goes over the socket.
    package var bytes: [UInt8] {
        var arguments = MessageWriter()
        for value in body { arguments.append(value) }
        var writer = MessageWriter()
        writer.bytes = [UInt8(ascii: "l"), kind.rawValue, startsService ? 0 : Self.noAutoStart, 1]
        writer.append(.uint32(UInt32(arguments.bytes.count)))
        writer.append(.uint32(serial))
        let fields: [(HeaderField, BusValue?)] = [
            (.path, path.map { .objectPath($0) }), (.interface, interface.map { .string($0) }),
            (.member, member.map { .string($0) }), (.errorName, errorName.map { .string($0) }),
            (.replySerial, replyTo.map { .uint32($0) }), (.destination, destination.map { .string($0) }),
            (.sender, sender.map { .string($0) }),
            (.signature, body.isEmpty ? nil : .signature(body.map(\.type).joined())),
        ]
        writer.appendArray(alignment: 8) { writer in
            for case (let field, let value?) in fields {
                writer.align(to: 8)
                writer.bytes.append(field.rawValue)
                writer.append(.signature(value.type))
                writer.append(value)
            }
        }
        writer.align(to: 8)
        return writer.bytes + arguments.bytes
    }
}

extension BusValue {
    /// The type as a signature spells it.
    var type: String {
        switch self {
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .byteStrings: "aay"
        case .variant: "v"
        }
    }
}

/// Appends values, each aligned as its type wants.
private struct MessageWriter {
    var bytes: [UInt8] = []

    mutating func align(to alignment: Int) {
        while !bytes.count.isMultiple(of: alignment) { bytes.append(0) }
    }

    mutating func append(_ value: BusValue) {
        switch value {
        case .uint16(let number): append(number)
        case .int32(let number): append(UInt32(bitPattern: number))
        case .uint32(let number): append(number)
        case .int64(let number): append(UInt64(bitPattern: number))
        case .uint64(let number): append(number)
        case .string(let text), .objectPath(let text):
            append(UInt32(text.utf8.count))
            bytes += Array(text.utf8) + [0]
        case .signature(let text):
            bytes += [UInt8(text.utf8.count)] + Array(text.utf8) + [0]
        case .variant(let value):
            append(.signature(value.type))
            append(value)
        case .byteStrings(let texts):
            appendArray(alignment: 4) { writer in
                for text in texts {
                    writer.append(UInt32(text.utf8.count))
                    writer.bytes += Array(text.utf8)
                }
            }
        }
    }

    mutating func appendArray(alignment: Int, _ elements: (inout MessageWriter) -> Void) {
        append(UInt32(0))
        let place = bytes.count - 4
        align(to: alignment)
        let start = bytes.count
        elements(&self)
        let size = UInt32(bytes.count - start)
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: size >> (8 * index)) }
    }

    private mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        align(to: MemoryLayout<Number>.size)
        for index in 0..<MemoryLayout<Number>.size { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }
}
