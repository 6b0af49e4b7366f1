import OnsetDetection
import Simulation
import Testing

@Suite
struct MIDIByteDetectorTests {
    /// A cable and its recording.
    struct Wire: CustomTestStringConvertible {
        var sampleRate = 48_000.0
        /// Level of a zero bit; negative for inverted polarity.
        var level = 0.4
        var bitsPerSecond = 31_250.0
        var noise = 0.0
        var hum = 0.0

        var testDescription: String { "\(self)" }
    }

    private static let wires =
        [44_100.0, 48_000, 88_200, 96_000, 192_000].map { Wire(sampleRate: $0) } + [
            Wire(level: -0.4), Wire(level: 0.01), Wire(bitsPerSecond: 31_550), Wire(bitsPerSecond: 30_950),
            Wire(noise: 0.02, hum: 0.01), Wire(sampleRate: 44_100, level: -0.1, noise: 0.005, hum: 0.005),
        ]

    /// Bytes of all kinds, some without a pause between them.
    private static func bytes(until end: Double, _ random: inout SeededGenerator) -> [(UInt8, Double)] {
        var bytes: [(UInt8, Double)] = []
        var time = 0.05
        while time < end {
            let isTick = bytes.count % 3 == 0
            bytes.append((isTick ? 0xF8 : UInt8.random(in: 0...255, using: &random), time))
            time += Bool.random(using: &random) ? 0.000_33 : Double.random(in: 0.000_33...0.004, using: &random)
        }
        return bytes
    }

    @Test(arguments: wires)
    func `every byte is read, within 10 us`(wire: Wire) throws {
        var random = SeededGenerator(seed: 8)
        let bytes = Self.bytes(until: 1, &random)
        var recording = Recording(seconds: 1.1, sampleRate: wire.sampleRate)
        recording.addMIDI(bytes, level: wire.level, bitsPerSecond: wire.bitsPerSecond)
        recording.coupleAC(frequency: 10)
        if wire.noise > 0 { recording.addNoise(level: wire.noise, random: &random) }
        if wire.hum > 0 { recording.addHum(level: wire.hum) }
        var detector = MIDIByteDetector(sampleRate: wire.sampleRate)
        let found = detector.take(recording.samples) + detector.finish()
        #expect(found.map(\.value) == bytes.map(\.0))
        #expect(detector.failures == 0)
        for (byte, sent) in zip(found, bytes) {
            #expect(abs(byte.time / wire.sampleRate - sent.1) < 0.000_01)
        }
    }

    @Test
    func `ticks made as unfiltered square waves are read within 20 us`() {
        // Some programs generate square waves without a filter, so each edge lies exactly on a sample.
        var random = SeededGenerator(seed: 9)
        let bytes = (0..<400).map { number -> (UInt8, Double) in
            let second = 0.05 + 0.005 * Double(number) + Double.random(in: 0...0.001, using: &random)
            return (0xF8, second)
        }
        var samples = [Float](repeating: 0.3, count: 110_000)
        for (byte, second) in bytes {
            for bit in 0..<9 where bit == 0 || byte >> (bit - 1) & 1 == 0 {
                let edges = [bit, bit + 1].map { Int(((second + Double($0) * 32e-6) * 48_000).rounded(.up)) }
                for index in edges[0]..<edges[1] { samples[index] = -0.3 }
            }
        }
        var detector = MIDIByteDetector(sampleRate: 48_000)
        let found = detector.take(samples) + detector.finish()
        #expect(found.map(\.value) == bytes.map(\.0))
        for (byte, sent) in zip(found, bytes) { #expect(abs(byte.time / 48_000 - sent.1) < 0.000_02) }
    }

    @Test(arguments: Recording.Sound.allCases)
    func `music contains no MIDI bytes`(sound: Recording.Sound) {
        var random = SeededGenerator(seed: 10)
        var recording = Recording(seconds: 4)
        for beat in 0..<7 { recording.add(sound, at: 0.2 + 0.5 * Double(beat), level: 0.5, random: &random) }
        var detector = MIDIByteDetector(sampleRate: 48_000)
        let ticks = detector.take(recording.samples).count { $0.value == 0xF8 }
        #expect(ticks <= detector.failures / 10)
    }

    @Test
    func `values that no sound card produces do no harm`() {
        var random = SeededGenerator(seed: 11)
        var detector = MIDIByteDetector(sampleRate: 44_100)
        let samples = (0..<40_000).map { _ in Float(bitPattern: UInt32.random(in: 0...UInt32.max, using: &random)) }
        for byte in detector.take(samples + [.nan, .infinity]) + detector.finish() { #expect(byte.time.isFinite) }
    }
}
