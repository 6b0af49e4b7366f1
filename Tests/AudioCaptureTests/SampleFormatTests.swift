import Testing

@testable import AudioCapture

@Suite
struct SampleFormatTests {
    /// -0.5 on the first channel and 0.25 on the second, twice, and a part of a frame.
    private static let frames: [(SampleFormat, [UInt8])] = [
        (.integer16, [0x00, 0xC0, 0x00, 0x20]), (.packed24, [0, 0, 0xC0, 0, 0, 0x20]),
        (.integer24, [0, 0, 0xC0, 0x5A, 0, 0, 0x20, 0xFF]), (.integer32, [0, 0, 0, 0xC0, 0, 0, 0, 0x20]),
        (.float32, [0, 0, 0, 0xBF, 0, 0, 0x80, 0x3E]),
    ]

    @Test(arguments: frames)
    func `every format is read, channel by channel`(format: SampleFormat, frame: [UInt8]) {
        (frame + frame + [1]).withUnsafeBytes { bytes in
            #expect(format.samples(ofChannel: 0, of: 2, in: bytes) == [-0.5, -0.5])
            #expect(format.samples(ofChannel: 1, of: 2, in: bytes) == [0.25, 0.25])
        }
    }

    @Test
    func `the largest and the smallest numbers are full scale`() {
        let bytes: [UInt8] = [0xFF, 0xFF, 0x7F, 0, 0, 0x80]
        bytes.withUnsafeBytes { bytes in
            let samples = SampleFormat.packed24.samples(ofChannel: 0, of: 1, in: bytes)
            #expect(abs(samples[0] - 1) < 1e-6 && samples[1] == -1)
        }
    }
}
