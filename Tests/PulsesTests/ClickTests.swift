import BeatTime
import CardClock
import MIDIClock
import Testing

@testable import Pulses

/// A metronome out of a sound card.
@Suite
struct ClickTests {
    private func settings(offBeat: Float = 0) -> PulseSettings {
        PulseSettings([PulseLine(.click(ClickLevels(bar: 1, beat: 0.5, offBeat: offBeat)))])
    }

    /// Plays a song from tick 96 on at 120 BPM, of three beats a bar, which was asked for at some tick.
    private func clicks(
        _ settings: PulseSettings, asked tick: Int64, for seconds: Int64 = 10, rest: Rest = .none
    ) -> [(place: Double, click: Click?, level: Float)] {
        var rig = PulseRig(settings)
        let line = line(120)
        rig.run(Score(line), until: line.time(ofTick: tick).microseconds - 1)
        var score = Score(line, song(from: 96, ticksPerBar: 72))
        score.plan.rest = rest
        rig.run(score, until: seconds * 1_000_000)
        rig.run(Score(line), until: 2 * seconds * 1_000_000)
        return rig.edges[0].map { edge in
            ((Double(edge.time.microseconds) / 1e6 * 48 - 96) / 24, edge.click, edge.level)
        }
    }

    @Test
    func `it sounds on each beat of the song, another way at a bar, and not between songs`() {
        let clicks = clicks(settings(), asked: 60)
        #expect(clicks.map { $0.place.rounded() } == (0..<16).map { Double($0) })
        #expect(clicks.allSatisfy { abs($0.place - $0.place.rounded()) < 0.001 })
        #expect(clicks.map(\.click) == (0..<16).map { $0 % 3 == 0 ? .bar : .beat })
        #expect(clicks.map(\.level) == (0..<16).map { $0 % 3 == 0 ? 1 : 0.5 })
    }

    @Test
    func `off-beats have a level of their own`() {
        let clicks = clicks(settings(offBeat: 0.25), asked: 60, for: 5)
        #expect(clicks.map { ($0.place * 2).rounded() / 2 } == (0..<12).map { Double($0) / 2 })
        #expect(clicks.map(\.level) == [1, 0.25, 0.5, 0.25, 0.5, 0.25, 1, 0.25, 0.5, 0.25, 0.5, 0.25])
    }

    @Test(arguments: [(Int64(90), Int64(0)), (25, 0), (24, -3), (-10, -3), (-48, -6)])
    func `a song is counted in by the whole bars before it`(asked: Int64, first: Int64) {
        var rig = PulseRig(settings())
        // As many ticks later, so that everything is after the beginning of time.
        let line = line(120)
        rig.run(Score(line), until: line.time(ofTick: asked + 200).microseconds - 1)
        rig.run(Score(line, song(from: 296, ticksPerBar: 72)), until: 10_000_000)
        let beats = rig.edges[0].map { ((Double($0.time.microseconds) / 1e6 * 48 - 296) / 24).rounded() }
        #expect(beats.first == Double(first))
        #expect(beats == (0..<beats.count).map { Double(first) + Double($0) })
        #expect(rig.edges[0].first?.click == .bar)
    }

    @Test(arguments: [(Int64(2), Int64(1), 0.5), (1, 2, 2), (1, 3, 3)])
    func `multiplied or divided, it has other beats, and the same bars`(
        multiply: Int64, divide: Int64, beats: Double
    ) {
        var (rig, line) = (PulseRig(settings()), line(120))
        // It is counted in by one bar.
        rig.run(Score(line), until: line.time(ofTick: 95).microseconds)
        var score = Score(line, song(from: 192))
        (score.plan.settings.multiply, score.plan.settings.divide) = (multiply, divide)
        rig.run(score, until: 20_000_000)
        let places = rig.edges[0].map { ((Double($0.time.microseconds) / 1e6 * 48 - 192) / 24 * 2).rounded() / 2 }
        let first = divide == 3 ? 0.0 : -4
        #expect(places == places.indices.map { first + Double($0) * beats })
        #expect(zip(places, rig.edges[0]).allSatisfy { ($1.click == .bar) == ($0.remainder(dividingBy: 4) == 0) })
    }

    @Test
    func `a song that has begun is joined at the next beat`() {
        let clicks = clicks(settings(), asked: 100)
        #expect(clicks.map { $0.place.rounded() } == (1..<16).map { Double($0) })
    }

    @Test
    func `a click that has become too late is left out`() {
        var (rig, line) = (PulseRig(settings()), line(120))
        let score = Score(line, song(from: 96))
        rig.run(score, until: line.time(ofTick: 120).microseconds - 1_000)
        rig.stall(30_000)
        rig.run(score, until: line.time(ofTick: 168).microseconds - 1_000)
        rig.stall(5_000)
        rig.run(score, until: 5_000_000)
        let times = rig.edges[0].map { Double($0.time.microseconds) / 1e6 * 48 / 24 - 4 }
        #expect(times.map { $0.rounded() } == [0, 2, 3, 4, 5])
        #expect(times.allSatisfy { abs($0 - $0.rounded()) < 0.02 })
    }

    @Test
    func `it is silent while it is muted`() {
        let clicks = clicks(settings(), asked: 60, rest: Rest(from: 72, until: 144))
        #expect(clicks.map { $0.place.rounded() } == [0, 1, 2] + (6..<16).map { Double($0) })
    }

    /// What is heard of a click whose wave begins at a place in the first block.
    private func samples(_ click: Click, at place: Double, block size: Int, sampleRate: Double) -> [Float] {
        var (wave, samples) = (ClickWave(), [Float]())
        var block = SampleBlock(frameCount: size, channelCount: 1)
        wave.begin(click, 0.5, at: place, sampleRate: sampleRate)
        while samples.count < Int(sampleRate / 5) {
            block.begin(at: samples.count)
            wave.write(on: 0, of: &block)
            samples += block.samples
        }
        return samples
    }

    @Test(arguments: [44_100.0, 48_000, 192_000], [Click.bar, .beat, .offBeat])
    func `its sound begins where the beat is, has its level, and fades`(sampleRate: Double, click: Click) {
        for place in [10.0, 10.25, 10.9] {
            let samples = samples(click, at: place, block: 48, sampleRate: sampleRate)
            #expect(samples.prefix(10).allSatisfy { $0 == 0 })
            // Near its beginning the wave is a straight line through its place.
            #expect(samples[11] > 0 && abs(Double(samples[11] / (samples[12] - samples[11])) - (11 - place)) < 0.15)
            let highest = samples.max() ?? 0
            #expect(highest > 0.42 && highest <= 0.5)
            #expect(samples[Int(0.1 * sampleRate)...].allSatisfy { $0 == 0 })
            let whole = self.samples(click, at: place, block: Int(sampleRate / 5), sampleRate: sampleRate)
            #expect(zip(samples, whole).allSatisfy { $0 == $1 })
        }
    }

    @Test
    func `bar, beat and off-beat differ in pitch`() {
        let crossings = [Click.bar, .beat, .offBeat].map { click in
            let samples = samples(click, at: 0, block: 48, sampleRate: 48_000).prefix(960)
            return zip(samples, samples.dropFirst()).count { $0 < 0 && $1 >= 0 }
        }
        #expect(crossings == [39, 25, 17])
    }

    @Test
    func `on two channels both have the same click, and nothing else has`() throws {
        let settings = try #require(settings().onChannels(2))
        let clock = CardClock(sampleRate: 48_000, frames: 0, at: 0)
        var sound = PulseSound(settings, on: [0, 2], first: 0)
        var block = SampleBlock(frameCount: 4_800, channelCount: 3)
        let score = Score(line(120), song(from: 2))
        sound.write(score.plan, on: score.map, by: clock, into: &block)
        let frames = stride(from: 0, to: block.samples.count, by: 3)
        #expect(frames.contains { block.samples[$0] > 0.9 })
        #expect(frames.allSatisfy { block.samples[$0 + 1] == 0 && block.samples[$0] == block.samples[$0 + 2] })
        #expect(sound.takeCounts().pulses == 1)
    }
}
