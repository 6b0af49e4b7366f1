import Foundation
import OpenSoundControl
import Simulation
import Testing

@Suite
struct OSCMessageTests {
    @Test
    func `a message has its address and values`() {
        let packet = Packets.message(
            "/tactus/x", "ifsTFhdSbN",
            [
                .whole(-7), .single(128.5), .text("TR-8S"), .wide(1 << 40), .double(0.1), .text("symbol"),
                .blob([1, 2, 3]),
            ])
        #expect(
            OSCPacket(packet).messages == [
                OSCMessage(
                    "/tactus/x",
                    [
                        .number(-7), .number(128.5), .text("TR-8S"), .number(1), .number(0), .number(1_099_511_627_776),
                        .number(0.1), .text("symbol"), .other, .other,
                    ])
            ])
        let tap = OSCPacket(Packets.message("/tactus/tap", "", []))
        #expect(tap.messages == [OSCMessage("/tactus/tap")] && !tap.isDamaged)
    }

    @Test(
        arguments: [
            ([], []), ([0, 0, 0, 1], [.number(1)]), ([0, 0, 0, 127], [.number(127)]),
            ([0xFF, 0xFF, 0xFF, 0xFF], [.number(-1)]),
            ([0x43, 0, 0, 0], [.number(128)]), ([0x42, 0xC3, 0, 0], [.number(97.5)]),
            ([0xC0, 0x20, 0, 0], [.number(-2.5)]),
            (Array("off\0".utf8), [.text("off")]), (Array("TR-8S\0\0\0".utf8), [.text("TR-8S")]),
        ] as [([UInt8], [OSCMessage.Argument])])
    func `a message without types has the value that its bytes plainly are`(
        value: [UInt8], arguments: [OSCMessage.Argument]
    ) {
        #expect(OSCPacket(Array("/a\0\0".utf8) + value).messages == [OSCMessage("/a", arguments)])
        let element = Array("/tactus/tap\0".utf8) + value
        #expect(OSCPacket(Packets.bundle([element])).messages == [OSCMessage("/tactus/tap", arguments)])
    }

    @Test
    func `a bundle gives its messages in order, whatever its time`() {
        let one = Packets.message("/one", "i", [.whole(1)])
        let inner = Packets.bundle([Packets.message("/two", "", []), Packets.message("/three", "", [])])
        #expect(OSCPacket(Packets.bundle([one, inner])).messages.map(\.address) == ["/one", "/two", "/three"])
        let empty = OSCPacket(Packets.bundle([]))
        #expect(empty.messages.isEmpty && !empty.isDamaged)
    }

    @Test
    func `a broken message in a bundle takes no other with it`() {
        let (one, two) = (Packets.message("/one", "i", [.whole(1)]), Packets.message("/two", "", []))
        for broken in [Array("/a\0\0,i\0\0".utf8), [1, 2, 3], Array("#bundle\0".utf8)] {
            let packet = OSCPacket(Packets.bundle([one, broken, Packets.bundle([broken, two])]))
            #expect(packet.messages.map(\.address) == ["/one", "/two"] && packet.isDamaged)
        }
        // Nobody knows where the next message begins.
        let cut = OSCPacket(Packets.bundle([one, two]).dropLast())
        #expect(cut.messages.map(\.address) == ["/one"] && cut.isDamaged)
    }

    @Test
    func `what is too deep or too much in a bundle is left out`() {
        var deep = Packets.message("/tactus/tap", "", [])
        for depth in 1...6 {
            deep = Packets.bundle([deep])
            #expect(OSCPacket(deep).messages.count == (depth <= 4 ? 1 : 0))
            #expect(OSCPacket(deep).isDamaged == (depth > 4))
        }
        let tap = Packets.message("/tactus/tap", "", [])
        for (count, isDamaged) in [(64, false), (65, true), (1_000, true)] {
            let packet = OSCPacket(Packets.bundle(Array(repeating: tap, count: count)))
            #expect(packet.messages.count == 64 && packet.isDamaged == isDamaged)
        }
        var nested = tap
        for _ in 0..<2_000 { nested = Packets.bundle([nested]) }
        #expect(OSCPacket(nested).messages.isEmpty && OSCPacket(nested).isDamaged)
    }

    @Test(arguments: [
        [], [0], Array("/".utf8), Array("/tactus/tap".utf8), Array("tactus\0\0,\0\0\0".utf8), Array("#bundle\0".utf8),
        Array("#bundle\0".utf8) + Array(repeating: 0, count: 12),
        Array("#bundle\0".utf8) + Array(repeating: 0xFF, count: 16), Array("/a\0\0,i\0\0".utf8),
        Array("/a\0\0,s\0\0abc".utf8), Array("/a\0\0,b\0\0".utf8) + [0x7F, 0xFF, 0xFF, 0xFF],
        Array("/a\0\0,[[[".utf8), Array("/a\0\0".utf8) + [0x7F, 0xC0, 0, 0], Array("/a\0\0abcd".utf8),
        Array("/a\0\0abc\0\0\0\0\0\0".utf8), Array(repeating: UInt8(ascii: "/"), count: 2_048),
    ])
    func `invalid packets are refused`(packet: [UInt8]) {
        #expect(OSCPacket(packet).messages.isEmpty && OSCPacket(packet).isDamaged)
    }

    @Test
    func `a hundred thousand randomly changed packets do no harm`() {
        var random = SeededGenerator(seed: 7)
        let good = [
            Packets.message("/tactus/nudge", "fs", [.single(-2.5), .text("tr-8s")]),
            Packets.bundle([
                Packets.message("/tactus/tempo", "d", [.double(128)]), Packets.message("/a", "b", [.blob([9, 9])]),
            ]),
        ]
        var understood = 0
        for round in 0..<100_000 {
            var packet = good[round % good.count]
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                switch Int.random(in: 0..<4, using: &random) {
                case 0: packet = Array(packet.prefix(Int.random(in: 0...packet.count, using: &random)))
                case 1: packet.append(.random(in: 0...255, using: &random))
                default:
                    guard let index = packet.indices.randomElement(using: &random) else { continue }
                    packet[index] = .random(in: 0...255, using: &random)
                }
            }
            if !OSCPacket(packet).isDamaged { understood += 1 }
        }
        #expect(understood > 0)
    }
}

/// Packets as a controller sends them.
enum Packets {
    enum Value {
        case whole(Int32)
        case wide(Int64)
        case single(Float)
        case double(Double)
        case text(String)
        case blob([UInt8])
    }

    static func message(_ address: String, _ types: String, _ values: [Value]) -> [UInt8] {
        padded(address) + padded("," + types) + values.flatMap(bytes)
    }

    static func bundle(_ elements: [[UInt8]]) -> [UInt8] {
        padded("#bundle") + bytes(.wide(1)) + elements.flatMap { bytes(.whole(Int32($0.count))) + $0 }
    }

    private static func bytes(_ value: Value) -> [UInt8] {
        switch value {
        case .whole(let value): withUnsafeBytes(of: value.bigEndian, Array.init)
        case .wide(let value): withUnsafeBytes(of: value.bigEndian, Array.init)
        case .single(let value): withUnsafeBytes(of: value.bitPattern.bigEndian, Array.init)
        case .double(let value): withUnsafeBytes(of: value.bitPattern.bigEndian, Array.init)
        case .text(let text): padded(text)
        case .blob(let blob):
            bytes(.whole(Int32(blob.count))) + blob + Array(repeating: 0, count: (4 - blob.count % 4) % 4)
        }
    }

    private static func padded(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        return bytes + Array(repeating: 0, count: 4 - bytes.count % 4)
    }
}
