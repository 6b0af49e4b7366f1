import BeatTime
import LoopGuard
import MIDIClock
import Simulation
import Testing

@Suite struct RegenerationTests {
    private static let port = LoopWorld.port
    private static let sameMachine = Way(delay: 400, jitter: .gaussian(20))

    /// A world with another gateway between our output and our input.
    private func world(_ ways: (Way, Way), beatsPerMinute: Double = 120, seed: UInt64) -> LoopWorld {
        var world = LoopWorld(beatsPerMinute: beatsPerMinute, seed: seed)
        world.addOther(ClockedGateway(beatsPerMinute: beatsPerMinute, isForeign: true))
        world.wayToOther = (0, ways.0)
        world.wayFromOther = (ways.1, Self.port)
        return world
    }

    private func beats(_ world: inout LoopWorld, within beats: Double) -> Double? {
        let (start, beat) = (world.now.microseconds, Double(world.ours.map.line.microsecondsPerBeat))
        let time = world.run(until: start + Int64(beats * beat)) { $0.loopGuard.verdict(of: Self.port).isExcluded }
        return time.map { Double($0 - start) / beat }
    }

    @Test(arguments: [90.0, 120])
    func `a gateway on this machine that follows us is excluded within 48 beats, with a warning first`(_ tempo: Double)
    {
        for seed in Seeds.standing(1...8) {
            var world = world((Self.sameMachine, Self.sameMachine), beatsPerMinute: tempo, seed: seed)
            world.loopGuard.pathChanged(of: Self.port, to: .program(1), at: world.now)
            let warned = world.run(until: 4_000_000) { $0.loopGuard.likelyLoops == [Self.port] }
            #expect(warned != nil, "seed \(seed)")
            #expect(beats(&world, within: 48) != nil, "seed \(seed)")
            #expect(world.loopGuard.verdict(of: Self.port) == .excluded(.regenerated), "seed \(seed)")
            #expect(!world.wasEverClear, "seed \(seed)")
        }
    }

    // It follows without haste, as we do, so that only the drift of the tempo shows it.
    @Test func `of two Tactus that follow each other through cables one lets go before the tempo runs away`() {
        let cable = Way(delay: 800, jitter: .gaussian(100))
        var world = world((cable, cable), seed: 1)
        world.other = ClockedGateway(beatsPerMinute: 121)
        world.otherFollows = false
        world.wanted = Self.port
        _ = world.run(until: 12_000_000)
        #expect(world.followed == Self.port)
        world.otherFollows = true
        let left = world.run(until: 300_000_000) { $0.followed == nil }
        #expect(left != nil)
        #expect(abs(60_000_000 / Double(world.ours.map.line.microsecondsPerBeat) - 121) < 3)
    }

    @Test func `a gateway behind cables is excluded eventually`() {
        let cable = Way(delay: 800, jitter: .gaussian(100))
        for seed in Seeds.standing(1...5) {
            var world = world((cable, cable), seed: seed)
            #expect(beats(&world, within: 100) != nil, "seed \(seed)")
        }
    }

    @Test func `two gateways that follow each other are detected within 60 beats`() {
        for seed in Seeds.standing(1...8) {
            var world = world((Self.sameMachine, Self.sameMachine), seed: seed)
            world.other = ClockedGateway(beatsPerMinute: 121, isForeign: true)
            world.otherFollows = false
            world.wanted = Self.port
            world.loopGuard.pathChanged(of: Self.port, to: .program(1), at: world.now)
            _ = world.run(until: 12_000_000)
            #expect(world.followed == Self.port, "seed \(seed)")
            world.otherFollows = true
            #expect(beats(&world, within: 60) != nil, "seed \(seed)")
            #expect(world.followed == nil, "seed \(seed)")
        }
    }

    @Test func `another Tactus that hears us is never followed, and is free once it does not`() {
        var world = world((Self.sameMachine, Self.sameMachine), seed: 1)
        world.wanted = Self.port
        world.loopGuard.pathChanged(of: Self.port, to: .gateway, at: world.now)
        _ = world.run(until: 20_000_000)
        #expect(world.loopGuard.verdict(of: Self.port) == .excluded(.gateway))
        #expect(world.followed == nil && world.loopGuard.probing == nil)
        world.loopGuard.pathChanged(of: Self.port, to: .unknown, at: world.now)
        world.otherFollows = false
        world.other = ClockedGateway(beatsPerMinute: 124, origin: world.now.microseconds)
        #expect(
            world.run(until: world.now.microseconds + 4_000_000) { $0.loopGuard.verdict(of: Self.port) == .clear }
                != nil)
    }

    @Test func `a fence against a gateway that follows us stays while it does, and is lifted when it leads itself`() {
        var world = world((Self.sameMachine, Self.sameMachine), seed: 21)
        #expect(beats(&world, within: 60) != nil)
        let released = world.run(until: world.now.microseconds + 40_000_000) {
            !$0.loopGuard.verdict(of: Self.port).isExcluded
        }
        #expect(released == nil)
        world.otherFollows = false
        world.other = ClockedGateway(beatsPerMinute: 124, origin: world.now.microseconds, isForeign: true)
        #expect(
            world.run(until: world.now.microseconds + 4_000_000) { $0.loopGuard.verdict(of: Self.port) == .clear }
                != nil)
    }
}
