import CALSA
import Testing

@testable import SoundCards

@Suite
struct SampleFormatTests {
    /// -0.5 on the first channel and 0.25 on the second; a byte that means nothing is set where there is one.
    private static let frames: [(formats: [snd_pcm_format_t], channels: [[UInt8]])] = [
        ([SND_PCM_FORMAT_S8], [[0xC0], [0x20]]),
        ([SND_PCM_FORMAT_U8], [[0x40], [0xA0]]),
        ([SND_PCM_FORMAT_S16_LE, SND_PCM_FORMAT_S16_BE], [[0x00, 0xC0], [0x00, 0x20]]),
        ([SND_PCM_FORMAT_U16_LE, SND_PCM_FORMAT_U16_BE], [[0x00, 0x40], [0x00, 0xA0]]),
        ([SND_PCM_FORMAT_S18_3LE, SND_PCM_FORMAT_S18_3BE], [[0, 0, 0xFF], [0, 0x80, 0]]),
        ([SND_PCM_FORMAT_U20_3LE, SND_PCM_FORMAT_U20_3BE], [[0, 0, 0x04], [0, 0, 0x0A]]),
        ([SND_PCM_FORMAT_S24_3LE, SND_PCM_FORMAT_S24_3BE], [[0, 0, 0xC0], [0, 0, 0x20]]),
        ([SND_PCM_FORMAT_S24_LE, SND_PCM_FORMAT_S24_BE], [[0, 0, 0xC0, 0x5A], [0, 0, 0x20, 0xFF]]),
        ([SND_PCM_FORMAT_S32_LE, SND_PCM_FORMAT_S32_BE], [[0, 0, 0, 0xC0], [0, 0, 0, 0x20]]),
        ([SND_PCM_FORMAT_U32_LE, SND_PCM_FORMAT_U32_BE], [[0, 0, 0, 0x40], [0, 0, 0, 0xA0]]),
        ([SND_PCM_FORMAT_FLOAT_LE, SND_PCM_FORMAT_FLOAT_BE], [[0, 0, 0, 0xBF], [0, 0, 0x80, 0x3E]]),
        (
            [SND_PCM_FORMAT_FLOAT64_LE, SND_PCM_FORMAT_FLOAT64_BE],
            [[0, 0, 0, 0, 0, 0, 0xE0, 0xBF], [0, 0, 0, 0, 0, 0, 0xD0, 0x3F]]
        ),
    ]

    @Test(arguments: frames)
    func `every format is read, channel by channel`(sample: (formats: [snd_pcm_format_t], channels: [[UInt8]])) throws {
        for (name, isBigEndian) in zip(sample.formats, [false, true]) {
            let format = try #require(SampleFormat(name))
            let frame = sample.channels.flatMap { isBigEndian ? $0.reversed() : $0 }
            // Two frames and a part of one.
            (frame + frame + [1]).prefix(2 * frame.count + format.size - 1).withUnsafeBytes { bytes in
                #expect(format.samples(ofChannel: 0, of: 2, in: bytes) == [-0.5, -0.5])
                #expect(format.samples(ofChannel: 1, of: 2, in: bytes) == [0.25, 0.25])
            }
            #expect(SampleFormat.all.contains(format))
        }
    }

    @Test
    func `what is written to any format is read again`() {
        for format in SampleFormat.all {
            let samples: [Float] = [0.5, -0.25, -1, 0]
            var bytes = [UInt8](repeating: 0, count: 4 * format.size)
            bytes.withUnsafeMutableBytes { format.write(samples, to: $0) }
            let read = bytes.withUnsafeBytes { format.samples(ofChannel: 0, of: 1, in: $0) }
            #expect(read == samples, "\(format)")
        }
    }

    @Test
    func `more than full scale is limited`() {
        for format in SampleFormat.all {
            var bytes = [UInt8](repeating: 0, count: format.size)
            bytes.withUnsafeMutableBytes { format.write([1], to: $0) }
            let read = bytes.withUnsafeBytes { format.samples(ofChannel: 0, of: 1, in: $0) }
            #expect(read[0] > 0.99, "\(format)")
        }
    }

    @Test
    func `integers of many bits are wanted most, and what is no number is not read`() {
        let names = SampleFormat.all.map(\.name)
        #expect(names.count == Set(names.map(\.rawValue)).count)
        #expect([SND_PCM_FORMAT_S32_LE, SND_PCM_FORMAT_S32_BE].contains(names[0]))
        #expect([SND_PCM_FORMAT_S8, SND_PCM_FORMAT_U8].contains(names[names.count - 1]))
        for name in [SND_PCM_FORMAT_MU_LAW, SND_PCM_FORMAT_IMA_ADPCM, SND_PCM_FORMAT_DSD_U8, SND_PCM_FORMAT_UNKNOWN] {
            #expect(SampleFormat(name) == nil)
        }
    }

    @Test
    func `the largest and the smallest numbers are full scale`() throws {
        let bytes: [UInt8] = [0xFF, 0xFF, 0x7F, 0, 0, 0x80]
        let format = try #require(SampleFormat(SND_PCM_FORMAT_S24_3LE))
        bytes.withUnsafeBytes { bytes in
            let samples = format.samples(ofChannel: 0, of: 1, in: bytes)
            #expect(abs(samples[0] - 1) < 1e-6 && samples[1] == -1)
        }
    }

    @Test
    func `an input is called by its card, and by its own name where that says more`() {
        let first = SoundDevice(card: "CODEC", number: 0, names: ["USB Audio CODEC", "USB Audio"])
        #expect(first == SoundDevice(device: "hw:CARD=CODEC", name: "USB Audio CODEC"))
        let second = SoundDevice(card: "PCH", number: 2, names: ["HDA Intel PCH", "ALC892 Alt Analog"])
        #expect(second == SoundDevice(device: "hw:CARD=PCH,DEV=2", name: "HDA Intel PCH, ALC892 Alt Analog"))
    }
}
