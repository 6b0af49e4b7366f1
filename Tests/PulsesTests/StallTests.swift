import BeatTime
import MIDIClock
import Simulation
import Testing

@testable import Pulses

/// Pulses after a card fell silent, and through changes of any kind.
@Suite
struct StallTests {
    @Test(arguments: [Int64(1), 2, 4, 8, 12, 24], [10_000, 50_000] as [Int64])
    func `after a short stall no pulse is lost, and within 0.2 s all are in their places`(perBeat: Int64, stall: Int64)
    {
        var rig = PulseRig(.clock(.perBeat(perBeat), .percent(50)))
        let score = Score(line(120))
        rig.run(score, until: 1_999_000)
        rig.stall(stall)
        rig.run(score, until: 5_000_001)
        #expect(rig.rises().count == Int(perBeat) * 10)
        for rise in rig.rises() where !(1_999_000..<2_200_000 + stall).contains(rise) {
            let beats = Double(rise) / 500_000 * Double(perBeat)
            #expect(abs(beats - beats.rounded()) * 500_000 / Double(perBeat) <= 2, "pulse at \(rise)")
        }
    }

    @Test
    func `pulses that are too late are left out and counted`() {
        var rig = PulseRig(.clock(.perBeat(24), .percent(50)))
        rig.run(Score(line(120)), until: 2_000_000)
        rig.stall(500_000)
        rig.run(Score(line(120)), until: 5_000_001)
        let skipped = rig.stream.takeSkipped()
        #expect(skipped.pulses > 20)
        #expect(Int64(rig.rises().count) + skipped.pulses == 240)
        #expect(rig.rises().first { $0 > 2_000_000 } == 2_500_000)
        #expect(rig.stream.takeSkipped().pulses == 0)
    }

    @Test
    func `a machine that lost run is started again at the next bar`() {
        var rig = PulseRig(.dinSync())
        let score = Score(line(120), song(from: 48))
        rig.run(score, until: 1_500_000)
        rig.stall(50_000)
        rig.run(score, until: 4_000_000)
        #expect(rig.rises(1) == [990_000, 2_990_000])
        #expect(rig.rises().filter { $0 > 1_600_000 }.allSatisfy { $0 * 48 % 1_000_000 < 48 })
    }

    @Test(arguments: Seeds.standing(1...200))
    func `whatever happens, lines go on and off in turn, and stay so for long enough to be seen`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let rate = PulseRate.perBeat(PulseRate.perBeat.randomElement(using: &random) ?? 24)
        let width = Bool.random(using: &random) ? PulseWidth.percent(50) : .microseconds(2_000)
        let trigger = PulseLine(.trigger(.startAndStop, microseconds: 3_000))
        var rig = PulseRig(
            PulseSettings([PulseLine(.clock(rate, width)), PulseLine(.run), trigger], lead: 10_000))
        var score = Score(line(Double.random(in: 20...300, using: &random)))
        for _ in 0..<100 {
            change(&score, &rig, &random)
            rig.run(score, until: rig.now + Int64.random(in: 1_000...700_000, using: &random))
        }
        for number in rig.edges.indices {
            let edges = rig.edges[number]
            #expect(zip(edges, edges.dropFirst()).allSatisfy { $0.time < $1.time && $0.level != $1.level })
            // Half of half the shortest interval, at 300 BPM.
            let pauses = number == 0 ? rig.pauses() : []
            #expect(pauses.allSatisfy { $0 >= 300 }, "\(pauses.min() ?? 0)")
        }
        #expect(rig.pauses(1).allSatisfy { $0 >= 9_000 })
        for run in rig.rises(1) {
            #expect(!rig.rises().contains { (run + 1..<run + 9_000).contains($0) })
        }
    }

    private func change(_ score: inout Score, _ rig: inout PulseRig, _ random: inout SeededGenerator) {
        let now = HostTime(microseconds: rig.now)
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1:
            let tick = score.map.nearestTick(to: now)
            let tempo = Int64.random(in: 200_000...3_000_000, using: &random)
            score.map.changeTempo(
                to: TickLine(microsecondsPerBeat: tempo, timeOrigin: score.map.time(ofTick: tick), tickOrigin: tick),
                at: now)
        case 2: score.map.slew(byMicroseconds: Int64.random(in: -3_000...3_000, using: &random))
        case 3:
            var new = score.map.line
            new.timeOrigin = new.timeOrigin.advanced(
                byMicroseconds: Int64.random(in: -500_000...500_000, using: &random))
            score.map.step(to: new)
        case 4:
            let start = score.map.nearestTick(to: now) + Int64.random(in: 0...30, using: &random)
            score.plan.transport = score.plan.transport.isPlaying ? .stopped : song(from: start)
        case 5: rig.stream.realign()
        default: score.plan.settings.swing = Int64.random(in: 500...750, using: &random)
        }
    }
}
