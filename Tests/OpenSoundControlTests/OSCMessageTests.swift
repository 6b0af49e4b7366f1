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
            OSCMessage.messages(in: packet) == [
                OSCMessage(
                    "/tactus/x",
                    [
                        .number(-7), .number(128.5), .text("TR-8S"), .number(1), .number(0), .number(1_099_511_627_776),
                        .number(0.1), .text("symbol"), .other, .other,
                    ])
            ])
        #expect(OSCMessage.messages(in: Packets.message("/tactus/tap", "", [])) == [OSCMessage("/tactus/tap")])
    }

    @Test
    func `a bundle gives its messages in order, whatever its time`() {
        let one = Packets.message("/one", "i", [.whole(1)])
        let inner = Packets.bundle([Packets.message("/two", "", []), Packets.message("/three", "", [])])
        let names = OSCMessage.messages(in: Packets.bundle([one, inner]))?.map(\.address)
        #expect(names == ["/one", "/two", "/three"])
        #expect(OSCMessage.messages(in: Packets.bundle([])) == [])
    }

    @Test
    func `bundles too deep or too large are refused as a whole`() {
        var deep = Packets.message("/tactus/tap", "", [])
        for depth in 1...6 {
            deep = Packets.bundle([deep])
            #expect((OSCMessage.messages(in: deep) != nil) == (depth <= 4))
        }
        let tap = Packets.message("/tactus/tap", "", [])
        #expect(OSCMessage.messages(in: Packets.bundle(Array(repeating: tap, count: 64)))?.count == 64)
        #expect(OSCMessage.messages(in: Packets.bundle(Array(repeating: tap, count: 65))) == nil)
        var nested = tap
        for _ in 0..<2_000 { nested = Packets.bundle([nested]) }
        #expect(OSCMessage.messages(in: nested) == nil)
    }

    @Test(arguments: [
        [], [0], Array("/".utf8), Array("/tactus/tap".utf8), Array("tactus\0\0,\0\0\0".utf8), Array("#bundle\0".utf8),
        Array("#bundle\0".utf8) + Array(repeating: 0, count: 12),
        Array("#bundle\0".utf8) + Array(repeating: 0xFF, count: 16), Array("/a\0\0,i\0\0".utf8),
        Array("/a\0\0,s\0\0abc".utf8), Array("/a\0\0,b\0\0".utf8) + [0x7F, 0xFF, 0xFF, 0xFF],
        Array("/a\0\0,[[[".utf8), Array(repeating: UInt8(ascii: "/"), count: 2_048),
    ])
    func `invalid packets are refused`(packet: [UInt8]) {
        #expect(OSCMessage.messages(in: packet) == nil)
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
            if OSCMessage.messages(in: packet) != nil { understood += 1 }
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
