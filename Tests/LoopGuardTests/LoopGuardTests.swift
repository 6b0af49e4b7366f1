import BeatTime
import LoopGuard
import MIDIClock
import Simulation
import Testing

@Suite struct LoopGuardTests {
    private static let port = LoopWorld.port

    @Test(arguments: [
        ("device echo", Way(delay: 300, jitter: .gaussian(20)), 60.0), ("soft thru", Way(delay: 3_000), 90),
        ("patch cable", Way(delay: 60, jitter: .gaussian(5)), 120), ("second cable", Way(delay: 1_400), 174),
        ("slow way", Way(delay: 60_000, jitter: .gaussian(50)), 120),
        ("half a tick late", Way(delay: 10_400, jitter: .gaussian(50)), 120),
    ])
    func `an echo is excluded within two beats, and never clear before`(_ name: String, _ way: Way, _ tempo: Double) {
        for seed in Seeds.standing(1...10) {
            var world = LoopWorld(beatsPerMinute: tempo, seed: seed)
            world.loops = [(0, way, Self.port)]
            #expect(world.ticksUntilFenced(within: 100) ?? .infinity <= 48, "\(name) seed \(seed)")
            #expect(world.loopGuard.verdict(of: Self.port) == .excluded(.echo), "\(name) seed \(seed)")
            #expect(!world.wasEverClear, "\(name) seed \(seed)")
        }
    }

    @Test(arguments: [(Way.Jitter.gaussian(100), 96.0), (.uniform(1_000), 300), (.gaussian(1_000), 4_000)])
    func `a jittering echo is excluded as soon as its jitter allows`(_ jitter: Way.Jitter, _ most: Double) {
        for seed in Seeds.standing(1...5) {
            var world = LoopWorld(seed: seed)
            world.loops = [(0, Way(delay: 2_000, jitter: jitter), Self.port)]
            #expect(world.ticksUntilFenced(within: most) != nil, "seed \(seed)")
        }
    }

    @Test func `an echo of an output that sends early or late is excluded`() {
        for offset in [-120_000, -30_000, 45_000, 200_000] as [Int64] {
            var world = LoopWorld(seed: 7)
            world.settings[0].offset = offset
            world.loopGuard.offsets = offset...offset
            world.loops = [(0, Way(), Self.port)]
            #expect(world.ticksUntilFenced(within: 80) != nil, "offset \(offset)")
        }
    }

    @Test(arguments: [false, true])
    func `an echo at the port of a leader that has paused is excluded within four beats`(isFollowed: Bool) {
        for seed in Seeds.standing(1...20) {
            var world = LoopWorld(seed: seed)
            world.addLeader(beatsPerMinute: 126, start: 107_000, jitter: .gaussian(50), count: 192, seed: seed)
            if isFollowed { world.wanted = Self.port }
            _ = world.run(until: 7_000_000)
            world.loopGuard.timePassed(to: world.now, on: world.ours.map)
            #expect(world.loopGuard.verdict(of: Self.port) == .clear, "seed \(seed)")
            #expect((world.followed != nil) == isFollowed, "seed \(seed)")
            world.loseLeader()
            world.loops = [(0, Way(), Self.port)]
            let excluded = world.run(until: 12_000_000) { $0.loopGuard.verdict(of: Self.port).isExcluded }
            #expect(excluded.map { $0 - 7_000_000 } ?? .max < 2_000_000, "seed \(seed)")
        }
    }

    @Test func `an echo beside a leader's own ticks in one port is excluded`() {
        for (seed, tempo) in zip(1...6 as ClosedRange<UInt64>, [120, 120, 120.02, 121, 119.5, 122] as [Double]) {
            var world = LoopWorld(seed: seed)
            world.loops = [(0, Way(), Self.port)]
            world.addLeader(beatsPerMinute: tempo, start: 107_000, jitter: .gaussian(30), seed: seed)
            #expect(world.ticksUntilFenced(within: 150) != nil, "\(tempo) BPM")
        }
    }

    @Test func `an echo exactly on the ticks of a leader at the same port is excluded more often than not`() {
        let excluded = Seeds.standing(1...20).count { seed in
            var world = LoopWorld(seed: seed)
            world.loops = [(0, Way(), Self.port)]
            world.addLeader(beatsPerMinute: 120, start: 104_667, jitter: .gaussian(30), seed: seed)
            return world.ticksUntilFenced(within: 600) != nil
        }
        #expect(excluded >= 10)
    }

    @Test func `an echo of divided or multiplied ticks is excluded`() {
        for (multiply, divide) in [(2, 1), (1, 2), (4, 1), (1, 3)] as [(Int64, Int64)] {
            var world = LoopWorld(seed: 5)
            (world.settings[0].multiply, world.settings[0].divide) = (multiply, divide)
            world.loops = [(0, Way(), Self.port)]
            #expect(world.ticksUntilFenced(within: 200) != nil, "\(multiply) for \(divide)")
        }
    }

    @Test func `an echo that starts while we follow a leader is excluded, and the leader keeps leading`() {
        let echo = ClockSource.port(client: 28, port: 0)
        var world = LoopWorld(seed: 3)
        world.addLeader(beatsPerMinute: 126, start: 107_000, jitter: .gaussian(50), seed: 3)
        world.wanted = Self.port
        _ = world.run(until: 5_000_000)
        world.loops = [(0, Way(), echo)]
        let excluded = world.run(until: 8_000_000) { $0.loopGuard.verdict(of: echo).isExcluded }
        #expect(excluded.map { $0 - 5_000_000 } ?? .max < 1_500_000)
        _ = world.run(until: 20_000_000)
        #expect(world.followed == Self.port)
    }

    @Test func `an echo stays suspected and excluded while our outputs slew and our tempo changes`() {
        for moment in [150_000, 2_500_000] as [Int64] {
            var world = LoopWorld(seed: 13)
            world.loops = [(0, Way(), Self.port)]
            _ = world.run(until: moment)
            world.ours.map.slew(byMicroseconds: 6_000)
            #expect(world.ticksUntilFenced(within: 300) != nil)
            var line = world.ours.map.line
            let tick = line.nearestTick(to: world.now)
            (line.timeOrigin, line.tickOrigin, line.microsecondsPerBeat) = (line.time(ofTick: tick), tick, 470_000)
            world.ours.map.changeTempo(to: line, at: world.now)
            let released = world.run(until: world.now.microseconds + 12_000_000) {
                !$0.loopGuard.verdict(of: Self.port).isExcluded
            }
            #expect(released == nil && !world.wasEverClear)
        }
    }

    @Test func `an echo stays excluded while somebody bends the output, and after it`() {
        var world = LoopWorld(seed: 14)
        world.loops = [(0, Way(), Self.port)]
        #expect(world.ticksUntilFenced(within: 60) != nil)
        for bend in [40_000, 0] as [Int64] {
            world.bends[0] = bend
            world.loopGuard.outputsBent(until: world.now.advanced(byMicroseconds: 4_000_000))
            let released = world.run(until: world.now.microseconds + 3_000_000) {
                !$0.loopGuard.verdict(of: Self.port).isExcluded
            }
            #expect(released == nil && !world.wasEverClear)
        }
        let released = world.run(until: world.now.microseconds + 10_000_000) {
            !$0.loopGuard.verdict(of: Self.port).isExcluded
        }
        #expect(released == nil)
    }

    @Test func `a fence is lifted when the loop is gone`() {
        var world = LoopWorld(seed: 11)
        world.loops = [(0, Way(), Self.port)]
        #expect(world.ticksUntilFenced(within: 60) != nil)
        world.loops = []
        _ = world.run(until: world.now.microseconds + 2_000_000)
        world.loopGuard.timePassed(to: world.now, on: world.ours.map)
        #expect(world.loopGuard.verdict(of: Self.port) == .untested)
    }

    @Test func `a fence is lifted when another clock takes the loop's place`() {
        for (apart, beats) in [(0.5, 40), (0, 120)] as [(Double, Int64)] {
            var world = LoopWorld(seed: 12)
            world.loops = [(0, Way(), Self.port)]
            #expect(world.ticksUntilFenced(within: 60) != nil)
            world.loops = []
            let start = Double(world.now.microseconds) + 20_000
            world.addLeader(beatsPerMinute: 120 + apart, start: start, jitter: .gaussian(20), seed: 4)
            let end = world.now.microseconds + beats * 500_000
            let cleared = world.run(until: end) { $0.loopGuard.verdict(of: Self.port) == .clear }
            #expect(cleared != nil, "\(apart) BPM apart")
        }
    }

    @Test func `one of our own ports is excluded for as long as it exists`() {
        var world = LoopWorld(seed: 1)
        world.loopGuard.pathChanged(of: Self.port, to: .ownPort, at: world.now)
        #expect(world.loopGuard.verdict(of: Self.port) == .excluded(.ownPort))
        world.addLeader(beatsPerMinute: 97, start: 5_000, jitter: .none, seed: 1)
        _ = world.run(until: 2_000_000)
        #expect(world.loopGuard.verdict(of: Self.port) == .excluded(.ownPort))
        world.loopGuard.pathChanged(of: Self.port, to: .unknown, at: world.now)
        _ = world.run(until: 3_000_000)
        #expect(world.loopGuard.verdict(of: Self.port) == .clear)
    }

    @Test func `only outputs that may reach the suspect are displaced, by at most 1 % of a tick`() {
        for tempo in [60.0, 120, 300, 999] {
            var world = LoopWorld(beatsPerMinute: tempo, outputs: 3, seed: 9)
            world.loopGuard.pathChanged(of: Self.port, to: .outputs(0b010), at: world.now)
            world.loops = [(1, Way(delay: 400, jitter: .gaussian(5)), Self.port)]
            _ = world.run(until: 6_000_000)
            let percent = 0.01 * 2_500_000 / tempo
            #expect(world.displaced[0] == 0 && world.displaced[2] == 0)
            #expect(world.displaced[1] > Int64(percent * 0.9) && Double(world.displaced[1]) <= percent + 1)
        }
    }

    @Test func `a flood of sources is limited, and none beyond the eighth is clear`() {
        var loopGuard = LoopGuard(seed: 1)
        let map = LoopWorld(seed: 1).ours.map
        for tick in 0..<20_000 as Range<Int64> {
            let source = ClockSource.port(client: UInt8(tick % 200), port: 0)
            loopGuard.received(
                from: source, at: HostTime(microseconds: tick * 130), on: map, isFollowed: false)
        }
        let known = (0..<200 as Range<UInt8>).count { loopGuard.verdict(of: .port(client: $0, port: 0)) != .untested }
        #expect(known <= LoopGuard.capacity)
    }
}
