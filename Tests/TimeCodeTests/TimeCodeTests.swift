import Testing

@testable import TimeCode

/// Numbers of frames, and the bytes that say them.
@Suite
struct TimeCodeTests {
    @Test(arguments: [
        (1_799, "00:00:59;29"), (1_800, "00:01:00;02"), (17_981, "00:09:59;29"), (17_982, "00:10:00;00"),
        (107_892, "01:00:00;00"), (2_589_407, "23:59:59;29"), (2_589_408, "00:00:00;00"), (-1, "23:59:59;29"),
    ])
    func `drop-frame time code leaves out two numbers a minute, but not each tenth`(frame: Int64, text: String) {
        #expect(TimeCode(.thirtyDrop, frame: frame).description == text)
    }

    @Test(arguments: TimeCode.Rate.allCases)
    func `each frame of a day has its own time, and is found by it`(rate: TimeCode.Rate) throws {
        var before = -1 as Int64
        for frame in 0..<rate.framesPerDay {
            let parts = TimeCode(rate, frame: frame).parts
            let shown = ((parts.hours * 60 + parts.minutes) * 60 + parts.seconds) * 30 + parts.frames
            #expect(shown > before)
            before = shown
            guard frame % 7 == 0 else { continue }
            let found = TimeCode(
                rate, hours: parts.hours, minutes: parts.minutes, seconds: parts.seconds, frames: parts.frames)
            #expect(found?.frame == frame)
        }
    }

    @Test
    func `there is no time that drop-frame time code leaves out, nor one beyond its limits`() {
        #expect(TimeCode(.thirtyDrop, hours: 0, minutes: 1, seconds: 0, frames: 1) == nil)
        #expect(TimeCode(.thirtyDrop, hours: 0, minutes: 10, seconds: 0, frames: 1) != nil)
        #expect(TimeCode(.twentyFive, hours: 0, minutes: 0, seconds: 0, frames: 25) == nil)
        #expect(TimeCode(.twentyFive, hours: 24, minutes: 0, seconds: 0, frames: 0) == nil)
        #expect(TimeCode(.twentyFive, hours: 0, minutes: -1, seconds: 0, frames: 0) == nil)
    }

    @Test
    func `the bytes are those of the specification`() throws {
        let time = try #require(TimeCode(.thirtyDrop, hours: 17, minutes: 43, seconds: 58, frames: 29))
        let pieces = (0..<8).map { TimeCodeMessage.data(ofPiece: $0, of: time) }
        #expect(pieces == [0x0D, 0x11, 0x2A, 0x33, 0x4B, 0x52, 0x61, 0x75])
        #expect(TimeCodeMessage.quarterFrame(piece: 7, of: time).wire == (0x75F1, 2))
        let (word, count) = TimeCodeMessage.fullFrame(time).wire
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        #expect(bytes == [0xF0, 0x7F, 0x7F, 0x01, 0x01, 0x51, 43, 58, 29, 0xF7])
    }
}
