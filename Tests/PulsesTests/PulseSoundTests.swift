import BeatTime
import CardClock
import MIDIClock
import Testing

@testable import Pulses

/// Pulses as samples.
@Suite
struct PulseSoundTests {
    /// Plays a score on one channel of two, of a card that is as fast as it says, with frame 0 at 1 ms.
    private func samples(
        _ settings: PulseSettings, _ score: Score, frames: Int, block: Int, sampleRate: Double = 48_000
    ) -> [Float] {
        let clock = CardClock(sampleRate: sampleRate, frames: 0, at: 1_000)
        var sound = PulseSound(settings, on: [1], first: 0)
        var samples: [Float] = []
        var part = SampleBlock(frameCount: block, channelCount: 2)
        for first in stride(from: 0, to: frames, by: block) {
            part.begin(at: first)
            sound.write(score.plan, on: score.map, by: clock, into: &part)
            #expect(stride(from: 0, to: part.samples.count, by: 2).allSatisfy { part.samples[$0] == 0 })
            samples += stride(from: 1, to: part.samples.count, by: 2).map { part.samples[$0] }
        }
        return samples
    }

    @Test(arguments: [44_100.0, 48_000, 96_000, 192_000])
    func `an edge is between two samples, by the value of one`(sampleRate: Double) {
        let score = Score(line(133.7))
        let samples = samples(
            .clock(.perBeat(24)), score, frames: Int(2 * sampleRate), block: 441, sampleRate: sampleRate)
        var (tick, previous) = (Int64(1), Float(0))
        for (frame, sample) in samples.enumerated() {
            defer { previous = sample }
            guard previous == 0, sample > 0 else { continue }
            let place = Double(frame) + 0.5 - Double(sample)
            let due = Double(score.map.time(ofTick: tick).microseconds - 1_000) * sampleRate / 1e6
            #expect(abs(place - due) < 0.001)
            tick += 1
        }
        #expect(
            Double(score.map.time(ofTick: tick).microseconds - 1_000) * sampleRate / 1e6 > Double(samples.count) - 1)
    }

    @Test
    func `a pulse has its width and its levels`() {
        var settings = PulseSettings.clock(.perBeat(1), .microseconds(5_000))
        (settings.lines[0].low, settings.lines[0].high) = (-0.5, 0.75)
        let samples = samples(settings, Score(line(120)), frames: 36_000, block: 100)
        #expect(samples.allSatisfy { (-0.5...0.75).contains($0) })
        #expect(samples.filter { $0 == 0.75 }.count == 239)
        let area = samples.reduce(0) { $0 + Double($1) + 0.5 }
        #expect(abs(area - 240 * 1.25) < 0.01)
    }

    @Test(arguments: [1, 64, 441, 4_800])
    func `block lengths change nothing`(block: Int) {
        let score = Score(line(97.3), song(from: 24))
        let whole = samples(.clock(.perBeat(24), .percent(50)), score, frames: 48_000, block: 48_000)
        let parts = samples(.clock(.perBeat(24), .percent(50)), score, frames: 48_000, block: block)
        #expect(zip(whole, parts).allSatisfy { abs($0 - $1) < 0.001 })
    }

    @Test
    func `after the card fell silent lines begin off`() {
        let clock = CardClock(sampleRate: 48_000, frames: 0, at: 0)
        var sound = PulseSound(.clock(.perBeat(24), .percent(50)), on: [0], first: 0)
        let score = Score(line(120))
        var block = SampleBlock(frameCount: 1_200, channelCount: 1)
        sound.write(score.plan, on: score.map, by: clock, into: &block)
        #expect(block.samples.last == 1)
        block.begin(at: 1_500)
        sound.restart(at: 1_500)
        sound.write(score.plan, on: score.map, by: clock, into: &block)
        #expect(block.samples.prefix(480).allSatisfy { $0 == 0 })
        #expect(block.samples[501] == 1)
    }
}
