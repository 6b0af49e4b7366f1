import PlainHTTP
import Testing

@testable import tactus

@Suite
struct EventReaderTests {
    @Test(arguments: [1, 2, 7, 1_000])
    func `events are complete however their bytes are split`(size: Int) throws {
        let bytes = Array("retry: 1000\n\nevent: status\ndata: {1}\n\nevent: change\ndata: {2}\n\nevent: st".utf8)
        var reader = EventReader()
        var data: [String] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = Array(bytes[start..<min(start + size, bytes.count)])
            data += try reader.read(piece).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(data == ["{1}", "{2}"])
    }

    @Test
    func `an event without an end is given up`() throws {
        var reader = EventReader()
        let piece = [UInt8](repeating: 0x78, count: HTTPClient.longest)
        #expect(try reader.read(piece).isEmpty)
        #expect(throws: HTTPFailure.tooLong) { try reader.read([0x78]) }
    }
}
