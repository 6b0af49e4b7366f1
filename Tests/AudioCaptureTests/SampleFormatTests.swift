import Testing

@testable import AudioCapture

@Suite
struct SampleFormatTests {
    /// -0.5 on the first channel and 0.25 on the second; the byte that means nothing is set where there is one.
    private static let frames: [(SampleFormat.Encoding, [[UInt8]])] = [
        (.integer16, [[0x00, 0xC0], [0x00, 0x20]]), (.packed24, [[0, 0, 0xC0], [0, 0, 0x20]]),
        (.integer24, [[0, 0, 0xC0, 0x5A], [0, 0, 0x20, 0xFF]]), (.integer32, [[0, 0, 0, 0xC0], [0, 0, 0, 0x20]]),
        (.float32, [[0, 0, 0, 0xBF], [0, 0, 0x80, 0x3E]]),
    ]

    @Test(arguments: frames, [false, true])
    func `every format is read, channel by channel`(
        sample: (encoding: SampleFormat.Encoding, channels: [[UInt8]]), isBigEndian: Bool
    ) {
        let format = SampleFormat(encoding: sample.encoding, isBigEndian: isBigEndian)
        let frame = sample.channels.flatMap { isBigEndian ? $0.reversed() : $0 }
        // Two frames and a part of one.
        (frame + frame + [1]).withUnsafeBytes { bytes in
            #expect(format.samples(ofChannel: 0, of: 2, in: bytes) == [-0.5, -0.5])
            #expect(format.samples(ofChannel: 1, of: 2, in: bytes) == [0.25, 0.25])
        }
        #expect(SampleFormat.all.contains(format) && SampleFormat.all.count == 10)
    }

    @Test
    func `the largest and the smallest numbers are full scale`() {
        let bytes: [UInt8] = [0xFF, 0xFF, 0x7F, 0, 0, 0x80]
        bytes.withUnsafeBytes { bytes in
            let samples = SampleFormat(encoding: .packed24).samples(ofChannel: 0, of: 1, in: bytes)
            #expect(abs(samples[0] - 1) < 1e-6 && samples[1] == -1)
        }
    }

    @Test
    func `an input is called by its card, and by its own name where that says more`() {
        let first = CaptureDevice(card: "CODEC", number: 0, names: ["USB Audio CODEC", "USB Audio"])
        #expect(first == CaptureDevice(device: "hw:CARD=CODEC", name: "USB Audio CODEC"))
        let second = CaptureDevice(card: "PCH", number: 2, names: ["HDA Intel PCH", "ALC892 Alt Analog"])
        #expect(second == CaptureDevice(device: "hw:CARD=PCH,DEV=2", name: "HDA Intel PCH, ALC892 Alt Analog"))
    }
}
