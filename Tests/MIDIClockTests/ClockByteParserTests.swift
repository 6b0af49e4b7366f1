import MIDIClock
import Simulation
import Testing

@Suite
struct ClockByteParserTests {
    private static func messages(_ bytes: [UInt8]) -> [ClockMessage] {
        var parser = ClockByteParser()
        return bytes.compactMap { parser.received($0) }
    }

    @Test
    func `every message is parsed from its bytes`() {
        let all: [ClockMessage] = [.timingClock, .start, .continue, .stop, .songPosition(0), .songPosition(16_383)]
        for message in all + (0..<14).map({ .songPosition(1 << $0) }) {
            let (word, count) = message.wire
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
            #expect(Self.messages(bytes) == [message])
        }
    }

    @Test(
        arguments: [
            ("a note with running status", [0x90, 60, 100, 0xF8, 62, 0xF8, 100], [.timingClock, .timingClock]),
            (
                "a Song Position with ticks between its bytes", [0xF2, 0xF8, 8, 0xF8, 1],
                [.timingClock, .timingClock, .songPosition(136)]
            ),
            ("System Exclusive full of data bytes", [0xF0, 0x7E, 0xFA, 2, 3, 0xF7, 0xFC], [.start, .stop]),
            ("System Exclusive that a Song Position ends", [0xF0, 1, 2, 0xF2, 4, 0], [.songPosition(4)]),
            ("System Exclusive with active sensing and reset", [0xF0, 1, 0xFE, 2, 0xFF, 0xF7, 0xF8], [.timingClock]),
            ("a Song Position that another message cuts short", [0xF2, 4, 0x90, 1, 2, 0xF8], [.timingClock]),
            ("a Song Position that begins again", [0xF2, 9, 0xF2, 4, 0], [.songPosition(4)]),
            ("data after a Song Position, which has no running status", [0xF2, 4, 0, 5, 0, 6, 0], [.songPosition(4)]),
            ("undefined status bytes", [0xF4, 1, 0xF5, 2, 0xF9, 0xFD, 0xF6, 3, 0xFB], [.continue]),
            ("undefined real-time bytes within a Song Position", [0xF2, 0xF9, 4, 0xFD, 0], [.songPosition(4)]),
            ("the middle of a message", [1, 2, 0xF8], [.timingClock]),
        ] as [(String, [UInt8], [ClockMessage])])
    func `bytes of other messages do not change the clock's`(what: String, bytes: [UInt8], expected: [ClockMessage]) {
        #expect(Self.messages(bytes) == expected, "\(what)")
    }

    /// Random bytes: real-time messages are always found, and a position only right after its status byte.
    @Test(arguments: Seeds.standing(1...200))
    func `no stream of bytes hides or invents a message`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = (0..<2_000).map { _ -> UInt8 in
            random.chance(0.3)
                ? [0xF2, 0xF8, 0xFA, 0xFB, 0xFC, 0xF0, 0xF7].randomElement(using: &random) ?? 0
                : .random(in: 0...255, using: &random)
        }
        var expected: [ClockMessage] = []
        // The last two bytes other than real-time messages; a position is complete after its status and one more.
        var before: (UInt8, UInt8) = (0, 0)
        for byte in bytes {
            switch byte {
            case 0xF8: expected.append(.timingClock)
            case 0xFA: expected.append(.start)
            case 0xFB: expected.append(.continue)
            case 0xFC: expected.append(.stop)
            case 0..<0x80 where before.0 == 0xF2 && before.1 < 0x80:
                expected.append(.songPosition(UInt16(byte) << 7 | UInt16(before.1)))
            default: break
            }
            if byte < 0xF8 { before = (before.1, byte) }
        }
        #expect(Self.messages(bytes) == expected)
    }
}
