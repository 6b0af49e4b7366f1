import BeatTime
import MIDIClock
import Simulation
import Testing

@Suite
struct ClockFollowerTests {
    @Test(arguments: [20.0, 61.3, 120, 174, 333, 999])
    func `a steady leader is locked within two beats and stays locked`(tempo: Double) throws {
        var random = SeededGenerator(seed: 1)
        let leader = LeaderClock(count: 2_000, jitter: .gaussian(150), random: &random) { _ in tempo }
        let rig = FollowerRig(leader)
        let locked = try #require(rig.readings.firstIndex { $0.state == .locked })
        #expect(rig.readings[locked].number <= 48)
        #expect(rig.readings[..<locked].allSatisfy { $0.state == .settling })
        #expect(rig.readings[locked...].allSatisfy { $0.state == .locked })
        #expect(rig.readings[locked].tempo.magnitude < 0.015 * tempo)
        let estimate = try #require(rig.follower.estimate)
        #expect(abs(estimate.beatsPerMinute - tempo) < 2 * estimate.tempoDoubt)
        #expect((100...200).contains(estimate.jitter))
    }

    @Test(arguments: TestLine.all)
    func `at a steady tempo the estimate is about as good as theoretically possible for small noise`(line: TestLine) {
        var tempo: [Double] = []
        var phase: [Double] = []
        for seed in UInt64(1)...3 {
            var random = SeededGenerator(seed: seed)
            let leader = LeaderClock(count: 1_600, jitter: line.jitter, random: &random) { _ in 120 }
            let steady = FollowerRig(leader).from(600)
            tempo.append(rootMeanSquare(steady.map(\.tempo)))
            let mean = steady.reduce(0) { $0 + $1.phase } / Double(steady.count)
            phase.append(rootMeanSquare(steady.map { $0.phase - mean }))
        }
        // Cramér-Rao bound for 256 ticks: sqrt(12 / 256³) of a stamp's deviation per tick, and 2 / sqrt(256) of it
        // ahead. Until 2026 the follower used so many; now it uses more.
        let period = line.deviation * (12 / 16_776_960.0).squareRoot()
        let factor = line.jitter == .gaussian(1_000) ? 1.7 : 1.3
        #expect(median(tempo)! <= factor * 120 * period / 20_833.3)
        #expect(median(phase)! <= max(factor * line.deviation * 0.1254, 100), "nobody hears less")
    }

    @Test(arguments: zip(TestLine.all, [12, 25, 80, 25]))
    func `a step of six beats per minute is settled at once`(line: TestLine, ticks: Int) {
        var settling: [Int] = []
        var phase: [Double] = []
        for seed in UInt64(1)...5 {
            var random = SeededGenerator(seed: seed)
            let leader = LeaderClock(count: 800, jitter: line.jitter, random: &random) { $0 < 600 ? 120 : 126 }
            let rig = FollowerRig(leader)
            settling.append(rig.settling(after: 600, within: 0.25) ?? .max)
            phase.append(rig.from(600).worstPhase(delay: line.delay))
            #expect(rig.from(60).allSatisfy { $0.state == .locked })
            #expect(rig.hasRightCount(delay: line.delay))
        }
        #expect(median(settling)! <= ticks)
        if line.jitter == .gaussian(100) { #expect(median(phase)! <= 3_000) }
    }

    @Test
    func `a ramp of twenty beats per minute in a bar is followed within 1.2 ms`() {
        for seed in UInt64(1)...4 {
            var random = SeededGenerator(seed: seed)
            let leader = LeaderClock(count: 800, jitter: .gaussian(100), random: &random) {
                120 + 20 * Double(min(max($0 - 600, 0), 96)) / 96
            }
            #expect(FollowerRig(leader).from(600).worstPhase(delay: 0) <= 1_200)
        }
    }

    @Test(arguments: [0.34, 0.4, 0.5, 0.6, 0.66, 0.75, 1.3, 1.37, 1.5, 1.7, 2, 2.5, 3])
    func `any new tempo is followed, and no tick is miscounted`(ratio: Double) {
        // With jitter above a tenth of a tick, a leap of the tempo cannot be told from lost and doubled ticks.
        for line in TestLine.all where line.deviation < 2_083 / ratio {
            for seed in UInt64(1)...2 {
                var random = SeededGenerator(seed: seed)
                let leader = LeaderClock(count: 700, jitter: line.jitter, random: &random) {
                    $0 < 400 ? 120 : 120 * ratio
                }
                let rig = FollowerRig(leader)
                #expect(rig.hasRightCount(delay: line.delay), "\(line.name), seed \(seed)")
                #expect(rig.from(520).worstTempo < 0.01 * 120 * ratio, "\(line.name), seed \(seed)")
            }
        }
    }

    @Test(arguments: [98.7, 125.1, 131.7, 120])
    func `ticks that wait for 1 ms frames do not make the tempo drift`(tempo: Double) {
        for seed in UInt64(1)...4 {
            var random = SeededGenerator(seed: seed)
            let leader = LeaderClock(count: 1_600, jitter: .frames, random: &random) { _ in tempo }
            let rig = FollowerRig(leader)
            #expect(rig.from(600).worstTempo < 0.02)
            #expect(rig.from(600).allSatisfy { $0.state == .locked })
        }
    }

    @Test(arguments: [0.06, 0.1, 0.16, 0.32])
    func `a swung clock is locked on its straight beat`(swing: Double) {
        for line in TestLine.all {
            for seed in UInt64(1)...2 {
                var random = SeededGenerator(seed: seed)
                let leader = LeaderClock(
                    count: 700, jitter: line.jitter, swing: swing, random: &random
                ) { _ in 120 }
                let rig = FollowerRig(leader)
                let later = rig.from(400)
                #expect(later.allSatisfy { $0.state == .locked })
                #expect(later.worstTempo < 0.2)
                // The strip is a little wider than the swing, by the farthest delays.
                let bound = 3 * line.deviation + 1_000 + 12_500 * swing
                #expect(later.worstPhase(delay: line.delay) < bound, "\(line.name), seed \(seed)")
            }
        }
    }

    @Test
    func `silence of a quarter second or four ticks loses the leader, and its tempo is kept`() throws {
        for (tempo, limit) in [(120.0, Int64(250_000)), (24, 416_667)] {
            var random = SeededGenerator(seed: 1)
            let leader = LeaderClock(count: 200, jitter: .none, random: &random) { _ in tempo }
            var follower = FollowerRig(leader).follower
            let last = try #require(leader.arrivals.last).time
            let lostAt = try #require(follower.lostAt)
            #expect(abs(last.microseconds(to: lostAt) - limit) <= 1)
            follower.timePassed(to: lostAt.advanced(byMicroseconds: -1))
            #expect(follower.state == .locked)
            follower.timePassed(to: lostAt)
            #expect(follower.state == .lost)
            #expect(abs(follower.estimate!.beatsPerMinute - tempo) < 0.01)
        }
    }

    @Test
    func `a follower without messages keeps waiting as time passes`() {
        var follower = ClockFollower()
        follower.timePassed(to: HostTime(microseconds: 1 << 50))
        follower.received(.start, at: HostTime(microseconds: 1 << 50))
        #expect(follower.state == .waiting)
        #expect(follower.estimate == nil)
        #expect(follower.lostAt == nil)
    }

    @Test
    func `ticks of an impossible tempo are told from the third on`() {
        var follower = ClockFollower()
        let states = (Int64(0)..<10).map { tick in
            follower.received(.timingClock, at: HostTime(microseconds: 1_000 * tick))
            return follower.state
        }
        #expect(states == [.waiting, .waiting] + Array(repeating: .settling, count: 8))
        #expect(follower.estimate == nil)
    }

    @Test
    func `noise without rhythm never locks`() {
        for seed in UInt64(1)...6 {
            var random = SeededGenerator(seed: seed)
            var follower = ClockFollower()
            var time: Int64 = 0
            for _ in 0..<2_000 {
                time += Int64.random(in: 300...60_000, using: &random)
                follower.received(.timingClock, at: HostTime(microseconds: time))
                #expect(follower.state != .locked)
            }
        }
    }

    @Test
    func `the line for planners agrees with the estimate`() throws {
        var random = SeededGenerator(seed: 4)
        let leader = LeaderClock(count: 500, jitter: .gaussian(300), random: &random) { _ in 123.4 }
        let estimate = try #require(FollowerRig(leader).follower.estimate)
        for ahead in Int64(0)...24 {
            let exact = estimate.microseconds(ofTick: estimate.tick + ahead)
            let planned = estimate.line.time(ofTick: estimate.tick + ahead)
            #expect(abs(Double(planned.microseconds) - exact) <= 2)
            #expect(abs(estimate.position(at: planned) - Double(estimate.tick + ahead)) < 1e-3)
        }
    }
}
