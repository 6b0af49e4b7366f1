extension BusMessage {
    /// Bytes of the part of a header that is the same in every message.
    static let fixedSize = 16
    /// Longest message that is read, in bytes; those that concern us have a few hundred.
    static let longest = 1 << 20

    /// Bytes of the message that begins here; nil if the bytes do not suffice to tell.
    static func size(_ bytes: some Collection<UInt8>) throws(MalformedMessage) -> Int? {
        guard bytes.count >= fixedSize else { return nil }
        var reader = MessageReader(bytes.prefix(fixedSize))
        guard try reader.byte() == UInt8(ascii: "l") else { throw MalformedMessage() }
        reader.position = 4
        let body = Int(try reader.number(UInt32.self))
        reader.position = 12
        let fields = Int(try reader.number(UInt32.self))
        guard body <= longest, fields <= longest else { throw MalformedMessage() }
        return (fixedSize + fields + 7) / 8 * 8 + body
    }

    /// Reads one whole message; nil if it is of a kind that does not exist yet, which is to be ignored.
    init?(_ bytes: some Collection<UInt8>) throws(MalformedMessage) {
        var reader = MessageReader(bytes)
        reader.position = 1
        let kind = Kind(rawValue: try reader.byte())
        reader.position = 8
        self.init(kind: kind ?? .signal, serial: try reader.number())
        let end = Int(try reader.number(UInt32.self)) + Self.fixedSize
        var signature = ""
        while reader.position < end {
            try reader.align(to: 8)
            let field = HeaderField(rawValue: try reader.byte())
            let type = try reader.signature()
            // Fields that we do not know have types of which we cannot say where they end.
            guard type.utf8.count == 1, let value = try reader.value(UInt8(type.utf8.first ?? 0)) else { break }
            switch (field, value) {
            case (.path, .objectPath(let text)): path = text
            case (.interface, .string(let text)): interface = text
            case (.member, .string(let text)): member = text
            case (.errorName, .string(let text)): errorName = text
            case (.replySerial, .uint32(let number)): replyTo = number
            case (.destination, .string(let text)): destination = text
            case (.sender, .string(let text)): sender = text
            case (.signature, .signature(let text)): signature = text
            default: break
            }
        }
        reader.position = end
        try reader.align(to: 8)
        for type in signature.utf8 {
            guard let value = try reader.value(type) else { break }
            body.append(value)
        }
        if kind == nil { return nil }
    }
}

/// Reads values in order; throws where a value would go beyond the end.
private struct MessageReader {
    private let bytes: [UInt8]
    var position = 0

    init(_ bytes: some Collection<UInt8>) { self.bytes = Array(bytes) }

    mutating func align(to alignment: Int) throws(MalformedMessage) {
        position = (position + alignment - 1) / alignment * alignment
        guard position <= bytes.count else { throw MalformedMessage() }
    }

    mutating func byte() throws(MalformedMessage) -> UInt8 {
        guard bytes.indices.contains(position) else { throw MalformedMessage() }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func number<Number: FixedWidthInteger>(
        _ type: Number.Type = Number.self
    ) throws(MalformedMessage) -> Number {
        try align(to: MemoryLayout<Number>.size)
        var number: Number = 0
        for index in 0..<MemoryLayout<Number>.size { number |= Number(truncatingIfNeeded: try byte()) << (8 * index) }
        return number
    }

    mutating func signature() throws(MalformedMessage) -> String { try text(count: Int(byte())) }

    /// A value of a type of one letter; nil for one that we do not read.
    mutating func value(_ type: UInt8) throws(MalformedMessage) -> BusValue? {
        switch type {
        case UInt8(ascii: "q"): .uint16(try number())
        case UInt8(ascii: "i"): .int32(Int32(bitPattern: try number()))
        case UInt8(ascii: "u"): .uint32(try number())
        case UInt8(ascii: "x"): .int64(Int64(bitPattern: try number()))
        case UInt8(ascii: "t"): .uint64(try number())
        case UInt8(ascii: "s"): .string(try text(count: Int(number(UInt32.self))))
        case UInt8(ascii: "o"): .objectPath(try text(count: Int(number(UInt32.self))))
        case UInt8(ascii: "g"): .signature(try signature())
        case UInt8(ascii: "v"): try variant()
        default: nil
        }
    }

    /// The value in a variant; nil for one that we do not read, such as another variant, which could nest without end.
    private mutating func variant() throws(MalformedMessage) -> BusValue? {
        let type = try signature().utf8
        guard type.count == 1, let letter = type.first, letter != UInt8(ascii: "v") else { return nil }
        return try value(letter).map { .variant($0) }
    }

    private mutating func text(count: Int) throws(MalformedMessage) -> String {
        guard count < bytes.count - position else { throw MalformedMessage() }
        defer { position += count + 1 }  // and the zero behind it
        return String(decoding: bytes[position..<position + count], as: UTF8.self)
    }
}
