import Testing

@testable import DBus

@Suite
struct BusStreamTests {
    private static let accepted = Array("DATA\r\nOK 0123456789abcdef\r\n".utf8)

    private static let messages: [BusMessage] = {
        var reply = BusMessage(kind: .reply, serial: 7)
        reply.replyTo = 3
        reply.sender = ":1.5"
        reply.destination = ":1.6"
        reply.body = [.int32(-2), .string("Tactus on box"), .uint16(8_808), .objectPath("/Group1"), .uint32(.max)]
        reply.body += [.int64(-5), .uint64(.max), .variant(.int64(.min)), .variant(.string("x"))]
        var error = BusMessage(kind: .error, serial: 8)
        error.replyTo = 4
        error.errorName = "org.freedesktop.DBus.Error.ServiceUnknown"
        error.body = [.string("")]
        var signal = BusMessage(kind: .signal, serial: 9)
        signal.path = "/org/freedesktop/DBus"
        signal.interface = "org.freedesktop.DBus"
        signal.member = "NameAcquired"
        return [reply, error, signal]
    }()

    private static let bytes = accepted + messages.flatMap(\.bytes)

    @Test
    func `the path in a bus address is found wherever it stands`() {
        #expect(BusConnection.path(in: "unix:path=/run/bus") == "/run/bus")
        #expect(BusConnection.path(in: "unix:guid=01,path=/run/a=b;tcp:host=far") == "/run/a=b")
        #expect(BusConnection.path(in: "tcp:host=far;unix:path=/run/bus") == nil)
        #expect(BusConnection.path(in: "unix:abstract=/run/bus") == nil)
        #expect(BusConnection.path(in: "") == nil)
    }

    @Test
    func `a call has the bytes that the specification gives it`() {
        let call = BusMessage.call("M", of: "a.b", at: "/", to: "c.d", serial: 5, [.uint16(1), .byteStrings(["xy"])])
        let header: [UInt8] = [
            0x6C, 1, 2, 1, 14, 0, 0, 0, 5, 0, 0, 0, 74, 0, 0, 0,  // little-endian call that starts nothing
            1, 1, 0x6F, 0, 1, 0, 0, 0, 0x2F, 0, 0, 0, 0, 0, 0, 0,  // path
            2, 1, 0x73, 0, 3, 0, 0, 0, 0x61, 0x2E, 0x62, 0, 0, 0, 0, 0,  // interface
            3, 1, 0x73, 0, 1, 0, 0, 0, 0x4D, 0, 0, 0, 0, 0, 0, 0,  // member
            6, 1, 0x73, 0, 3, 0, 0, 0, 0x63, 0x2E, 0x64, 0, 0, 0, 0, 0,  // destination
            8, 1, 0x67, 0, 4, 0x71, 0x61, 0x61, 0x79, 0, 0, 0, 0, 0, 0, 0,  // signature, and to the next eighth byte
        ]
        #expect(call.bytes == header + [1, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0, 0x78, 0x79])
    }

    @Test
    func `a call may start a service only if it says so`() {
        var call = BusMessage.call("M", of: "a.b", at: "/", to: "c.d", serial: 5)
        #expect(call.bytes[2] == 2)
        call.startsService = true
        #expect(call.bytes[2] == 0)
    }

    @Test
    func `a variant in a variant is not read`() throws {
        var message = BusMessage(kind: .signal, serial: 1)
        message.body = [.uint32(1), .variant(.variant(.uint32(2))), .uint32(3)]
        var stream = BusStream()
        #expect(try stream.take(Self.accepted + message.bytes).map(\.body) == [[.uint32(1)]])
    }

    @Test
    func `messages are read however the bytes are cut`() throws {
        for size in 1...Self.bytes.count {
            var stream = BusStream()
            var read: [BusMessage] = []
            for start in stride(from: 0, to: Self.bytes.count, by: size) {
                read += try stream.take(Self.bytes[start..<min(start + size, Self.bytes.count)])
            }
            #expect(read == Self.messages)
        }
    }

    @Test
    func `arguments end at the first of a type that is not read`() throws {
        var message = BusMessage(kind: .signal, serial: 1)
        message.body = [.string("first"), .byteStrings(["x"]), .uint32(1)]
        var stream = BusStream()
        #expect(try stream.take(Self.accepted + message.bytes).map(\.body) == [[.string("first")]])
    }

    @Test(arguments: ["REJECTED EXTERNAL\r\n", "\r\n", String(repeating: "x", count: 2_000)])
    func `a bus that refuses is an error`(answer: String) {
        var stream = BusStream()
        #expect(throws: MalformedMessage.self) { try stream.take(answer.utf8) }
    }

    @Test
    func `a damaged message is an error or another message, and never a crash`() {
        for index in Self.accepted.count..<Self.bytes.count {
            for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF, Self.bytes[index] &+ 1, Self.bytes[index] ^ 0x20] {
                var damaged = Self.bytes
                damaged[index] = value
                var stream = BusStream()
                _ = try? stream.take(damaged)
            }
        }
    }

    @Test
    func `nobody makes us wait for a message of gigabytes`() {
        var bytes = Self.accepted + Self.messages[0].bytes
        bytes[Self.accepted.count + 7] = 0x7F
        var stream = BusStream()
        #expect(throws: MalformedMessage.self) { try stream.take(bytes) }
    }
}
