import GatewayStatus
import MIDIClock
import Simulation
import Testing

@testable import Arbiter
@testable import Gateway

/// What machines hear while the clock that leads is coarse, arrives twice or is none.
///
/// All in virtual time.
@Suite
struct CoarseLeaderSceneTests {
    /// 256 and 512 frames at 48 kHz, and packets of 11.25 and 15 ms; with the farthest that a song may be from its
    /// leader's after 16 beats, in microseconds.
    static let lines: [(jitter: LeaderClock.Jitter, coarseness: Int64)] = [
        (.periods(5_333.3), 5_500), (.periods(10_666.7), 11_000), (.packets(11_250, missed: 0), 12_500),
        (.packets(15_000, missed: 0), 16_500),
    ]

    @Test(arguments: 0..<4, [93.0, 117.2, 120, 124.7])
    func `a coarse leader has machines start once, in time, with even ticks`(line: Int, tempo: Double) throws {
        let (jitter, coarseness) = Self.lines[line]
        for seed in Seeds.standing(1...2) {
            var world = GatewayWorld("coarse leader", seed: seed)
            let ours = try world.addNode(tempo: 90)
            world.playLeader(at: ours, tempo: tempo, jitter: jitter, seconds: 1...40, seed: seed) { tick in
                tick == 240 ? [.start] : []
            }
            try world.run(until: 38)
            #expect(world.nodes[ours].engine.arbiter.mode == .follow)
            let machine = world.machine(of: ours)
            #expect(machine.moves == [.start], "line \(line), seed \(seed)")
            let first = try #require(machine.startedAt)
            let late = first - world.leaderTime(ofTick: 240, at: ours)
            #expect((-coarseness...coarseness + 8_000).contains(late), "it starts \(late) us late")
            let ticks = machine.ticks.filter { $0 > first }
            let gaps = zip(ticks.dropFirst(), ticks).map { Double($0 - $1) - 2_500_000 / tempo }
            #expect(gaps.allSatisfy { abs($0) < 2_500 }, "line \(line), seed \(seed): \(gaps.map(abs).max() ?? 0) us")
            try world.expectOnLeader(ours, within: min(coarseness, Int64(1_200_000 / tempo)))
        }
    }

    @Test(arguments: [40.0, 60])
    func `without a song the grid jumps to a leader half a tick off`(tempo: Double) throws {
        for seed in Seeds.standing(1...6) {
            var world = GatewayWorld("half a tick off", seed: seed)
            let ours = try world.addNode(tempo: 90)
            let start = 1 + Double(seed) * 0.004_7
            world.playLeader(at: ours, tempo: tempo, jitter: .gaussian(100), seconds: start...14, seed: seed) { tick in
                tick == 48 ? [.start] : []
            }
            try world.run(until: 13)
            let machine = world.machine(of: ours)
            #expect(machine.moves == [.start])
            let first = try #require(machine.startedAt)
            let late = first - world.leaderTime(ofTick: 48, at: ours)
            #expect((-3_000...6_000).contains(late), "it starts \(late) us late")
            try world.expectOnLeader(ours, within: 1_000)
        }
    }

    @Test(arguments: [300.0, 1_000, 2_000, 3_000])
    func `a clock that arrives twice is followed at its true tempo, and told`(distance: Double) throws {
        var world = GatewayWorld("twice", seed: 1)
        let ours = try world.addNode(tempo: 90)
        world.playLeader(
            at: ours, tempo: 120, jitter: .gaussian(50), seconds: 1...14, seed: 1,
            faults: [.twice(microseconds: distance)]
        ) { $0 == 96 ? [.start] : [] }
        try world.run(until: 13)
        #expect(abs(world.tempo(of: ours) - 120) < 0.1)
        #expect(world.machine(of: ours).moves == [.start])
        try world.expectOnLeader(ours, within: 1_000)
        #expect(world.nodes[ours].engine.arbiter.follower.seen == .arrivesTwice)
        #expect(world.nodes[ours].engine.arbiter.clocksHeardTwice == ["Leader 1"])
    }

    @Test
    func `what is no clock is not followed, and the status says what is seen`() throws {
        var world = GatewayWorld("no clock", seed: 1)
        let ours = try world.addNode(tempo: 90)
        for second in 1..<12 {
            for tick in 0..<30 {
                world.at(Double(second) * 0.9 + Double(tick) * 0.000_4) {
                    $0.hear(.timingClock, from: GatewayWorld.leaderPorts[0], at: ours)
                }
            }
        }
        try world.run(until: 9)
        let arbiter = world.nodes[ours].engine.arbiter
        #expect(arbiter.mode == .internal)
        #expect(arbiter.follower.state == .settling)
        #expect(arbiter.follower.seen?.text?.contains("its ticks come in bursts, every 88") == true)
    }
}
