import BeatTime
import GatewayStatus
import LinkNetwork
import LinkSession
import MIDIClock
import Simulation
import Testing

@testable import Arbiter
@testable import Gateway

/// A gateway that follows the session's tempo only within a range, its fence; in virtual time.
@Suite
struct TempoFenceSceneTests {
    /// A world with a peer that sets the tempo, and a gateway with a fence; both play from second 4 on.
    private func world(
        _ seed: UInt64, fence: TempoFence?, tempo: Double = 120
    ) throws -> (world: GatewayWorld, peer: Int, ours: Int) {
        var world = GatewayWorld("tempo fence", seed: seed)
        let (peer, ours) = (try world.addNode(tempo: tempo), try world.addNode(tempo: 77))
        world.setLink(true, at: peer)
        configure(&world, ours, fence)
        world.at(2) { $0.setLink(true, at: ours) }
        world.at(3) { $0.command(.setPlaying(true), at: peer) }
        world.at(4) { $0.command(.setPlaying(true), at: ours) }
        try world.run(until: 6)
        return (world, peer, ours)
    }

    private func configure(_ world: inout GatewayWorld, _ node: Int, _ fence: TempoFence?) {
        var configuration = world.nodes[node].engine.configuration
        configuration.fence = fence
        world.command(.configure(configuration), at: node)
    }

    private func fence(_ lowest: Int64, _ highest: Int64, _ outside: TempoFence.Outside = .hold) -> TempoFence? {
        var fence = TempoFence(lowest: lowest * 1_000, highest: highest * 1_000)
        fence?.outside = outside
        return fence
    }

    /// Tempo of the last beat that a machine has received, in beats per minute.
    private func heard(_ world: GatewayWorld, _ node: Int) -> Double {
        let ticks = world.machine(of: node).ticks.suffix(25)
        guard ticks.count == 25, let first = ticks.first, let last = ticks.last else { return 0 }
        return 60e6 / Double(last - first)
    }

    private func setTempo(_ tempo: Double, at node: Int, _ world: inout GatewayWorld) {
        world.command(.setTempo(Tempo(beatsPerMinute: tempo)), at: node)
    }

    private func sessionTempo(_ world: GatewayWorld, _ node: Int) -> Double {
        world.nodes[node].link.sessionState.tempo.beatsPerMinute.rounded()
    }

    @Test(arguments: Seeds.standing(1...5), [300.0, 40])
    func `outside the fence a machine holds the last tempo inside, and realigns to the bar afterwards`(
        seed: UInt64, tempo: Double
    ) throws {
        var (world, peer, ours) = try world(seed, fence: fence(110, 140))
        setTempo(130, at: peer, &world)
        try world.run(until: 9)
        #expect(abs(heard(world, ours) - 130) < 1)
        #expect(world.nodes[ours].engine.arbiter.tempoOutside == nil)
        setTempo(tempo, at: peer, &world)
        try world.run(until: 15.3)
        #expect(abs(heard(world, ours) - 130) < 1)
        #expect(world.machine(of: ours).isPlaying)
        #expect(world.nodes[ours].engine.arbiter.tempoOutside?.beatsPerMinute.rounded() == tempo)
        #expect([peer, ours].map { sessionTempo(world, $0) } == [tempo, tempo], "the session is left alone")
        setTempo(125, at: peer, &world)
        try world.run(until: 22)
        #expect(abs(heard(world, ours) - 125) < 1)
        #expect(world.nodes[ours].engine.arbiter.tempoOutside == nil)
        try world.expectAligned([peer, ours])
    }

    @Test(arguments: Seeds.standing(1...5))
    func `joining a session outside the fence uses the nearest tempo inside`(seed: UInt64) throws {
        let (world, peer, ours) = try world(seed, fence: fence(90, 150), tempo: 400)
        // The gateway's own tempo, 77, was outside too, so the nearest tempo to it is used.
        #expect(abs(heard(world, ours) - 90) < 1)
        #expect([peer, ours].map { sessionTempo(world, $0) } == [400, 400])
        #expect(world.machine(of: ours).isPlaying)
    }

    @Test(arguments: Seeds.standing(1...5))
    func `a fence that folds keeps to the session's beats`(seed: UInt64) throws {
        var world = GatewayWorld("fold", seed: seed)
        let (peer, ours) = (try world.addNode(tempo: 120), try world.addNode(tempo: 77))
        configure(&world, ours, fence(80, 160, .fold))
        world.setLink(true, at: peer)
        world.at(2) { $0.setLink(true, at: ours) }
        try world.run(until: 5)
        setTempo(300, at: peer, &world)
        try world.run(until: 10)
        #expect(abs(heard(world, ours) - 150) < 1)
        #expect(world.nodes[ours].engine.arbiter.tempoOutside != nil)
        #expect(world.line(of: ours).microsecondsPerBeat == world.line(of: peer).microsecondsPerBeat)
        #expect([peer, ours].map { sessionTempo(world, $0) } == [300, 300])
    }

    @Test
    func `a fence that folds leaves the tempo of a leading clock alone`() throws {
        var world = GatewayWorld("fold beside a clock", seed: 1)
        let ours = try world.addNode(tempo: 90)
        configure(&world, ours, fence(80, 160, .fold))
        world.playLeader(at: ours, tempo: 200, jitter: .gaussian(100), seconds: 1...12, seed: 1) { _ in [] }
        try world.run(until: 8)
        #expect(world.nodes[ours].engine.arbiter.mode == .follow)
        #expect(abs(heard(world, ours) - 200) < 2)
        #expect(world.nodes[ours].engine.arbiter.tempoOutside == nil)
    }

    @Test
    func `a reload sets the fence and takes it away`() throws {
        var (world, peer, ours) = try world(1, fence: nil)
        setTempo(300, at: peer, &world)
        try world.run(until: 9)
        #expect(abs(heard(world, ours) - 300) < 3)
        configure(&world, ours, fence(90, 150))
        try world.run(until: 12)
        #expect(abs(heard(world, ours) - 150) < 1, "there was no tempo inside before, so it uses the nearest")
        configure(&world, ours, nil)
        try world.run(until: 15)
        #expect(abs(heard(world, ours) - 300) < 3)
        try world.expectAligned([peer, ours])
    }

    @Test
    func `disabling Link while outside the fence keeps the held tempo`() throws {
        var (world, peer, ours) = try world(1, fence: fence(90, 150))
        setTempo(300, at: peer, &world)
        try world.run(until: 9)
        world.setLink(false, at: ours)
        try world.run(until: 12)
        #expect(abs(heard(world, ours) - 120) < 1)
    }

    @Test
    func `the log reports when the tempo leaves the fence, and when it is back inside`() throws {
        var (world, peer, ours) = try world(1, fence: fence(70, 150))
        setTempo(300, at: peer, &world)
        try world.run(until: 8)
        setTempo(310, at: peer, &world)
        try world.run(until: 9)
        setTempo(100, at: peer, &world)
        try world.run(until: 10)
        let told = world.nodes[ours].log.map { "\($0.text)" }.filter { $0.contains("session's tempo") }
        #expect(
            told == [
                "the session's tempo is outside of --session-tempo", "outputs follow the session's tempo again",
            ])
    }

    @Test
    func `peers and tempos that come and go fill no log`() throws {
        var (world, peer, ours) = try world(1, fence: fence(70, 150))
        let before = world.nodes[ours].log.count
        for round in 0..<60 {
            setTempo(round.isMultiple(of: 2) ? 300 : 100, at: peer, &world)
            if round.isMultiple(of: 4) { world.setLink(round.isMultiple(of: 8), at: peer) }
            try world.run(until: 7 + Double(round) / 2)
        }
        try world.run(until: 60)
        let told = world.nodes[ours].log.dropFirst(before)
        #expect(told.count < 36)
        let left = told.filter { "\($0.text)".hasPrefix("too much happened") }
        #expect(!left.isEmpty && left.allSatisfy { $0.metadata["lines left out"] != nil })
    }
}
