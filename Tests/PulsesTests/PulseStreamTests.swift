import BeatTime
import MIDIClock
import Testing

@testable import Pulses

/// Where the pulses of a clock are, and how long they last.
@Suite
struct PulseStreamTests {
    @Test(arguments: PulseRate.perBeat)
    func `a clock has so many pulses per beat, counted from the beginning of the song`(perBeat: Int64) {
        var rig = PulseRig(.clock(.perBeat(perBeat), .percent(50)))
        let line = line(97.3)
        rig.run(Score(line, song(from: 101)), until: 20_000_000)
        // Tick 5 is four beats before the song.
        let first = rig.rises().count { $0 < line.time(ofTick: 5).microseconds }
        for (index, rise) in rig.rises().dropFirst(first).enumerated() {
            let exact =
                Double(line.time(ofTick: 5).microseconds) + Double(index) * Double(line.microsecondsPerBeat)
                / Double(perBeat)
            #expect(abs(Double(rise) - exact) <= 2, "pulse \(index)")
        }
        #expect(
            rig.rises().count - first == Int(
                (20_000_000 - line.time(ofTick: 5).microseconds) * perBeat / line.microsecondsPerBeat) + 1)
    }

    @Test(arguments: [1, 4] as [Int64], [72, 96] as [Int64])
    func `a clock of bars has a pulse at the beginning of each, while the song plays`(bars: Int64, ticksPerBar: Int64) {
        var rig = PulseRig(.clock(.everyBars(bars)))
        let line = line(240)
        rig.run(Score(line), until: 1_000_000)
        rig.run(Score(line, song(from: 150, ticksPerBar: ticksPerBar)), until: 30_000_000)
        rig.run(Score(line), until: 40_000_000)
        let ticks = stride(
            from: 150, to: line.firstTick(atOrAfter: HostTime(microseconds: 30_000_000)), by: Int(bars * ticksPerBar))
        #expect(rig.rises() == ticks.map { line.time(ofTick: $0).microseconds })
        #expect(rig.widths().allSatisfy { $0 == 5_000 })
    }

    @Test(arguments: [
        (PulseWidth.microseconds(5_000), 120.0, Int64(5_000)), (.microseconds(15_000), 120, 10_416),
        (.microseconds(1_000), 999, 1_000), (.percent(50), 120, 10_416), (.percent(10), 120, 2_083),
        (.percent(80), 20, 62_500),
    ])
    func `a pulse is as wide as it is set, and at most half the time to the next`(
        width: PulseWidth, beatsPerMinute: Double, expected: Int64
    ) {
        var rig = PulseRig(.clock(.perBeat(24), width))
        rig.run(Score(line(beatsPerMinute)), until: 5_000_000)
        #expect(rig.widths().count > 30)
        #expect(rig.widths().allSatisfy { abs($0 - expected) <= 1 })
    }

    @Test(arguments: [(false, Float(-0.25), Float(0.5)), (true, 0.5, -0.25)])
    func `levels are as they are set, and an inverted line has them exchanged`(isInverted: Bool, off: Float, on: Float)
    {
        var settings = PulseSettings.clock(.perBeat(2))
        (settings.lines[0].low, settings.lines[0].high, settings.lines[0].isInverted) = (-0.25, 0.5, isInverted)
        var rig = PulseRig(settings)
        rig.run(Score(line(120)), until: 2_100_000)
        #expect(rig.edges[0].map(\.level) == [on, off, on, off, on, off, on, off, on, off, on, off, on, off, on, off])
    }

    @Test(arguments: [Int64(1_000), 5_000, 2_500], [24, 48] as [Int64])
    func `block lengths change nothing`(block: Int64, perBeat: Int64) {
        var (rig, other) = (PulseRig(.dinSync(perBeat)), PulseRig(.dinSync(perBeat)))
        other.block = block
        for end in [3_333_333, 6_000_000] as [Int64] {
            let score = Score(line(133), song(from: end == 6_000_000 ? 500 : 96))
            rig.run(score, until: end)
            other.run(score, until: end)
        }
        #expect(rig.edges == other.edges)
    }

    @Test(arguments: [Int64(20), 60, 100, 120, 180, 280], [20, -20] as [Int64])
    func `through steps of the tempo no pulse is lost, doubled, or cut too short to be seen`(
        beatsPerMinute: Int64, step: Int64
    ) {
        var rig = PulseRig(.clock(.perBeat(24), .percent(50)))
        var score = Score(line(Double(beatsPerMinute)), song(from: 96))
        rig.run(score, until: 1_000_000)
        for number in 0..<40 {
            // Each at another place between two pulses, and a little late.
            let now = HostTime(microseconds: rig.now - 3_000)
            let tempo = number % 2 == 0 ? max(20, beatsPerMinute + step) : beatsPerMinute
            let tick = score.map.nearestTick(to: now)
            let new = TickLine(
                microsecondsPerBeat: 60_000_000 / tempo, timeOrigin: score.map.time(ofTick: tick), tickOrigin: tick)
            score.map.changeTempo(to: new, at: now)
            rig.run(score, until: rig.now + 500_000 + Int64(number) * 1_777)
        }
        let nearest = score.map.nearestTick(to: HostTime(microseconds: rig.now))
        let isPlayed = score.map.time(ofTick: nearest).microseconds < rig.now
        #expect(Int64(rig.rises().count) == (isPlayed ? nearest : nearest - 1))
        // A change is up to 3 ms late, and may have the next pulse follow sooner by half.
        let shortest = 60_000_000 / (24 * max(beatsPerMinute, beatsPerMinute + step)) / 2
        #expect((rig.widths().min() ?? 0) >= min(shortest - 3_100, shortest / 2))
        #expect((rig.pauses().min() ?? 0) >= shortest / 2)
    }

    @Test
    func `offset, swing, multiplying and dividing are those of every output`() {
        let line = line(120)
        var rig = PulseRig(.clock(.perBeat(4)))
        var settings = OutputSettings()
        settings.swing = 667
        rig.run(Score(line, song(from: 0), settings), until: 4_000_000)
        let sixteenths = rig.rises().dropFirst(rig.rises().count { $0 < 1_000_000 }).prefix(5).map { $0 - 1_000_000 }
        #expect(zip(sixteenths, [0, 166_750, 250_000, 416_750, 500_000]).allSatisfy { abs($0 - $1) <= 1 })

        rig = PulseRig(.clock(.perBeat(4)))
        (settings.swing, settings.divide, settings.offset) = (500, 2, -10_000)
        rig.run(Score(line, song(from: 0), settings), until: 4_000_000)
        #expect(rig.rises().filter { $0 >= 980_000 }.prefix(3) == [990_000, 1_240_000, 1_490_000])

        rig = PulseRig(.clock(.perBeat(48)))
        (settings.multiply, settings.offset) = (3, 0)
        rig.run(Score(line, song(from: 0), settings), until: 4_000_000)
        #expect(rig.rises().count { (1_000_000..<2_000_000).contains($0) } == 48 * 2 * 3 / 2)
    }

    @Test
    func `a clock that is not always on has its pulses while the song plays`() {
        var rig = PulseRig(.clock(.perBeat(2), .percent(50)))
        var settings = OutputSettings()
        settings.isClockAlwaysOn = false
        rig.run(Score(line(120), .stopped, settings), until: 500_000)
        rig.run(Score(line(120), song(from: 48), settings), until: 3_100_000)
        rig.run(Score(line(120), .stopped, settings), until: 4_000_000)
        #expect(rig.rises() == stride(from: 1_000_000, to: 3_100_000, by: 250_000).map { Int64($0) })
        #expect(rig.falls().count == rig.rises().count)
    }
}
