import OnsetDetection
import Simulation
import Testing

extension StudioTake {
    fileprivate func onsets() -> [Onset] {
        var detector = OnsetDetector(sampleRate: recording.sampleRate)
        return detector.take(recording.samples) + (detector.finish().map { [$0] } ?? [])
    }

    /// How late each hit was found, in microseconds; nil if hits are missing or additional ones were found.
    fileprivate func errors(_ onsets: [Onset]) -> [Double]? {
        guard onsets.count == truth.count else { return nil }
        return zip(onsets, truth).map { ($0.time / recording.sampleRate - $1) * 1_000_000 }
    }
}

@Suite
struct OnsetDetectorTests {
    @Test(arguments: Recording.Sound.allCases, StudioTake.Spoiled.allCases)
    func `every hit is found once, on average within the bounds`(sound: Recording.Sound, spoiled: StudioTake.Spoiled)
        throws
    {
        for seed in Seeds.standing(1...2) {
            let take = StudioTake(sound, spoiled, seed: seed)
            let errors = try #require(take.errors(take.onsets()), "seed \(seed)").sorted()
            let bound = [.click, .trigger].contains(sound) ? 40.0 : 250
            #expect(abs(errors[errors.count / 2]) < bound, "seed \(seed): \(errors)")
            #expect(errors[errors.count - 1] - errors[0] < 2 * bound, "seed \(seed): \(errors)")
        }
    }

    @Test(arguments: [8_000.0, 44_100, 96_000, 192_000])
    func `a click is found between samples at any sample rate`(sampleRate: Double) throws {
        let take = StudioTake(.trigger, .not, sampleRate: sampleRate, count: 8, seed: 3)
        let errors = try #require(take.errors(take.onsets()))
        #expect(errors.allSatisfy { abs($0) < 0.6 * 1_000_000 / sampleRate }, "\(errors)")
    }

    @Test
    func `clipping is reported`() {
        #expect(StudioTake(.snare, .clipping, seed: 4).onsets().allSatisfy { $0.isClipped })
        #expect(!StudioTake(.snare, .not, seed: 4).onsets().contains { $0.isClipped })
    }

    @Test
    func `no hits are found in noise and hum`() {
        var random = SeededGenerator(seed: 5)
        var recording = Recording(seconds: 20)
        recording.addNoise(level: 0.3, random: &random)
        recording.addHum(level: 0.3)
        var detector = OnsetDetector(sampleRate: recording.sampleRate)
        #expect(detector.take(recording.samples) == [])
    }

    @Test
    func `values that no sound card produces do no harm`() {
        var random = SeededGenerator(seed: 6)
        var detector = OnsetDetector(sampleRate: 8_000)
        let samples = (0..<40_000).map { _ in Float(bitPattern: UInt32.random(in: 0...UInt32.max, using: &random)) }
        for onset in detector.take(samples + [.nan, .infinity, -.infinity, .greatestFiniteMagnitude]) {
            #expect(onset.time.isFinite && onset.peak.isFinite && onset.clearness.isFinite)
        }
    }

    @Test
    func `samples in pieces give the same result as all at once`() {
        let take = StudioTake(.kick, .all, count: 4, seed: 7)
        var detector = OnsetDetector(sampleRate: take.recording.sampleRate)
        var onsets: [Onset] = []
        for start in stride(from: 0, to: take.recording.samples.count, by: 77) {
            onsets += detector.take(take.recording.samples[start..<min(start + 77, take.recording.samples.count)])
        }
        #expect(onsets == take.onsets())
    }
}
