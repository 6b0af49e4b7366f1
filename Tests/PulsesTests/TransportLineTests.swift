import BeatTime
import MIDIClock
import Testing

@testable import Pulses

/// What tells machines to play: `run`, and pulses at a start or stop.
@Suite
struct TransportLineTests {
    private static let tempos = [20.0, 60, 97.3, 119, 120, 121, 150, 200, 240, 260, 299, 300]

    @Test(arguments: tempos, [24, 48] as [Int64])
    func `run is on 9 to 11 ms before the first beat, and no edge of the clock is in between`(
        beatsPerMinute: Double, perBeat: Int64
    ) throws {
        var rig = PulseRig(.dinSync(perBeat))
        let line = line(beatsPerMinute)
        rig.run(Score(line, song(from: 96)), until: line.time(ofTick: 200).microseconds)
        let run = try #require(rig.rises(1).first)
        let top = line.time(ofTick: 96).microseconds
        #expect((9_000...11_000).contains(top - run))
        #expect(rig.rises().contains(top))
        #expect(!rig.edges[0].contains { (run..<top).contains($0.time.microseconds) })
        // From there on no pulse is missing, and before only those that are too close.
        let length = line.microsecondsPerBeat / perBeat
        #expect(rig.pauses().allSatisfy { $0 < 10_000 + 3 * length / 2 + 2 })
        #expect(Int64(rig.rises().count { $0 >= top }) == 104 * perBeat / 24)
        #expect(rig.falls(1).isEmpty)
    }

    @Test
    func `run goes off when the song stops, and the clock goes on`() {
        var rig = PulseRig(.dinSync())
        rig.run(Score(line(120), song(from: 48)), until: 2_345_678)
        rig.run(Score(line(120)), until: 4_000_000)
        #expect(rig.rises(1) == [990_000])
        #expect(rig.falls(1) == [2_345_678])
        #expect(rig.rises().count { $0 > 2_345_678 } == 79)
    }

    @Test(arguments: tempos, [24, 48] as [Int64])
    func `a machine that is started anew has run off and on for 9 ms each, and begins at a bar`(
        beatsPerMinute: Double, perBeat: Int64
    ) throws {
        var rig = PulseRig(.dinSync(perBeat))
        let line = line(beatsPerMinute)
        rig.run(Score(line, song(from: 96)), until: line.time(ofTick: 150).microseconds)
        rig.stream.realign()
        rig.run(Score(line, song(from: 96)), until: line.time(ofTick: 300).microseconds)
        let (off, on) = (try #require(rig.falls(1).last), try #require(rig.rises(1).last))
        #expect(on - off >= 9_000)
        let bar = line.time(ofTick: 192).microseconds
        #expect((9_000...11_000).contains(bar - on))
        #expect(rig.rises().contains(bar))
        #expect(!rig.edges[0].contains { (on..<bar).contains($0.time.microseconds) })
    }

    @Test
    func `a tempo that rises right after run leaves the machine its 9 ms`() throws {
        var rig = PulseRig(.dinSync())
        var score = Score(line(20), song(from: 24))
        rig.run(score, until: 2_991_000)
        let now = HostTime(microseconds: rig.now)
        score.map.changeTempo(
            to: TickLine(microsecondsPerBeat: 500_000, timeOrigin: now, tickOrigin: 24), at: now)
        rig.run(score, until: 4_000_000)
        let run = try #require(rig.rises(1).first)
        let first = try #require(rig.rises().first { $0 >= run })
        #expect((9_000...11_000).contains(first - run))
        #expect(rig.pauses().min() ?? 0 > 2_000)
    }

    @Test
    func `a start that comes too late for the lead waits for the next bar`() {
        var rig = PulseRig(.dinSync())
        rig.run(Score(line(120)), until: 992_000)
        rig.run(Score(line(120), song(from: 48)), until: 4_000_000)
        #expect(rig.rises(1) == [2_990_000])
    }

    @Test(arguments: [Int64(0), 1_000, 5_000])
    func `a pulse at the start is as early as set, or comes together with the first beat`(lead: Int64) {
        let reset = PulseLine(.trigger(.start, microseconds: 5_000))
        var rig = PulseRig(PulseSettings([PulseLine(.clock(.perBeat(4), .microseconds(5_000))), reset], lead: lead))
        rig.run(Score(line(120), song(from: 48)), until: 2_000_000)
        rig.run(Score(line(120)), until: 3_000_000)
        #expect(rig.rises(1) == [1_000_000 - lead])
        #expect(rig.widths(1) == [5_000])
        #expect(rig.rises().contains(1_000_000))
        #expect(!rig.rises().contains { (1_000_000 - lead..<1_000_000).contains($0) })
    }

    @Test
    func `pulses at the stop, and at both, come when the song stops`() {
        let both = PulseLine(.trigger(.startAndStop, microseconds: 20_000))
        var rig = PulseRig(PulseSettings([PulseLine(.trigger(.stop, microseconds: 3_000)), both]))
        rig.run(Score(line(120), song(from: 48)), until: 2_000_000)
        rig.run(Score(line(120)), until: 3_000_000)
        #expect(rig.rises(0) == [2_000_000])
        #expect(rig.rises(1) == [1_000_000, 2_000_000])
        #expect(rig.widths(1) == [20_000, 20_000])
    }

    @Test
    func `a muted machine has run off, and comes back at a bar`() {
        var rig = PulseRig(.dinSync())
        var score = Score(line(120), song(from: 48))
        rig.run(score, until: 2_000_000)
        score.plan.rest = Rest(from: 96, until: 192)
        rig.run(score, until: 8_000_000)
        #expect(rig.rises(1) == [990_000, 4_990_000])
        #expect(rig.falls(1).count == 1 && rig.falls(1)[0] <= 3_000_000 && rig.falls(1)[0] > 2_970_000)
        #expect(rig.rises().count { $0 >= 3_000_000 && $0 < 4_900_000 } == 92)
    }
}
