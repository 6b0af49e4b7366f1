import BeatTime
import LinkSession
import Simulation
import Testing

/// The cases that every Link program must pass, in virtual time; named as in Link's test plan where possible.
@Suite
struct ScenarioTests {
    private let quantum = Beats(4)

    @Test(arguments: Seeds.standing(1...5))
    func `TEMPO-1: a tempo change by one peer is followed by the other`(seed: UInt64) throws {
        var world = LinkWorld("TEMPO-1", seed: seed)
        let (peer, joiner) = (world.addNode(tempo: 120), world.addNode(tempo: 97))
        try world.enable(peer)
        try world.edit(peer) { $0.setIsPlaying(true, at: $1) }
        try world.run(until: 2)
        try world.enable(joiner)
        try world.run(until: 3)
        #expect(world.state(of: joiner).tempo.beatsPerMinute == 120)
        for (index, tempo) in [133.0, 64.5, 174, 20, 999].enumerated() {
            try world.edit(index % 2 == 0 ? joiner : peer) { $0.setTempo(Tempo(beatsPerMinute: tempo), at: $1) }
            try world.run(until: 3.3 + 0.3 * Double(index))
            try world.expectTogether([peer, joiner])
            let microseconds = Tempo(beatsPerMinute: tempo).microsecondsPerBeat
            #expect(world.state(of: peer).tempo.microsecondsPerBeat == microseconds)
            #expect(world.state(of: joiner).tempo.microsecondsPerBeat == microseconds)
        }
    }

    @Test(arguments: Seeds.standing(1...5))
    func `TEMPO-2: a joiner never brings its tempo`(seed: UInt64) throws {
        var world = LinkWorld("TEMPO-2", seed: seed)
        let (ours, peer) = (world.addNode(tempo: 100), world.addNode(tempo: 130))
        try world.enable(ours)
        try world.run(until: 5)
        try world.disable(ours)
        try world.run(until: 6)
        try world.enable(peer)
        try world.run(until: 8)
        let line = world.state(of: peer).timeline
        try world.enable(ours)
        try world.run(until: 9)
        try world.expectTogether([ours, peer])
        #expect(world.state(of: ours).tempo.beatsPerMinute.rounded() == 130)
        #expect(world.state(of: peer).timeline == line)
    }

    @Test(arguments: Seeds.standing(1...5))
    func `BEATTIME-2: a playing peer does not jump when another joins`(seed: UInt64) throws {
        var world = LinkWorld("BEATTIME-2", seed: seed)
        let (ours, peer) = (world.addNode(tempo: 111), world.addNode(tempo: 77))
        try world.enable(ours)
        try world.edit(ours) { $0.setIsPlaying(true, at: $1) }
        try world.run(until: 3)
        let state = world.state(of: ours)
        try world.enable(peer)
        try world.run(until: 5)
        try world.expectTogether([ours, peer])
        #expect(world.state(of: ours).timeline == state.timeline)
        #expect(world.state(of: ours).isPlaying)
        #expect(!world.state(of: peer).isPlaying)
    }

    @Test(arguments: Seeds.standing(1...5))
    func `STARTSTOPSTATE-1: start and stop reach peers that share them`(seed: UInt64) throws {
        var world = LinkWorld("STARTSTOPSTATE-1", seed: seed)
        let (ours, peer, deaf) = (world.addNode(), world.addNode(), world.addNode())
        for node in [ours, peer] { world.setStartStopSync(true, at: node) }
        for node in [peer, ours, deaf] {
            try world.enable(node)
            try world.run(until: world.now.value + 1)
        }
        for isPlaying in [true, false, true] {
            try world.edit(peer) { $0.setIsPlaying(isPlaying, at: $1.advanced(byMicroseconds: 700_000)) }
            try world.run(until: world.now.value + 0.1)
            #expect(world.state(of: ours).isPlaying == isPlaying)
            #expect(!world.state(of: deaf).isPlaying)
            let apart = world.worldTimeOfStartStop(of: ours).microseconds(to: world.worldTimeOfStartStop(of: peer))
            #expect(abs(apart) < 200)
        }
        // A tempo change moves the start in time, for both alike.
        try world.edit(ours) { $0.setTempo(Tempo(beatsPerMinute: 60), at: $1) }
        try world.run(until: world.now.value + 0.1)
        let apart = world.worldTimeOfStartStop(of: ours).microseconds(to: world.worldTimeOfStartStop(of: peer))
        #expect(abs(apart) < 200)
    }

    @Test(arguments: Seeds.standing(1...5))
    func `STARTSTOPSTATE-2: joining starts nobody, later changes reach everybody`(seed: UInt64) throws {
        var world = LinkWorld("STARTSTOPSTATE-2", seed: seed)
        let (peer, ours) = (world.addNode(), world.addNode())
        for node in [peer, ours] { world.setStartStopSync(true, at: node) }
        try world.enable(peer)
        try world.edit(peer) { $0.setIsPlaying(true, at: $1) }
        try world.run(until: 2)
        try world.enable(ours)
        try world.run(until: 4)
        #expect(world.state(of: peer).isPlaying && !world.state(of: ours).isPlaying)
        let steps: [(node: Int, isPlaying: Bool)] = [(ours, true), (ours, false), (ours, true), (peer, false)]
        for step in steps {
            try world.edit(step.node) { $0.setIsPlaying(step.isPlaying, at: $1) }
            try world.run(until: world.now.value + 0.5)
            #expect(world.state(of: peer).isPlaying == step.isPlaying)
            #expect(world.state(of: ours).isPlaying == step.isPlaying)
        }
    }

    @Test(arguments: Seeds.standing(1...5))
    func `start/stop sync switched on later follows only later changes`(seed: UInt64) throws {
        var world = LinkWorld("late start/stop sync", seed: seed)
        let (peer, ours) = (world.addNode(), world.addNode())
        world.setStartStopSync(true, at: peer)
        for node in [peer, ours] { try world.enable(node) }
        try world.run(until: 2)
        try world.edit(peer) { $0.setIsPlaying(true, at: $1) }
        try world.run(until: 3)
        world.setStartStopSync(true, at: ours)
        try world.edit(peer) { $0.setTempo(Tempo(beatsPerMinute: 90), at: $1) }
        try world.run(until: 4)
        #expect(!world.state(of: ours).isPlaying, "a tempo change must not start the transport")
        try world.edit(peer) { $0.setIsPlaying(true, at: $1.advanced(byMicroseconds: 1)) }
        try world.run(until: 5)
        #expect(world.state(of: ours).isPlaying)
    }

    @Test(arguments: Seeds.standing(1...5))
    func `the session outlives its founder`(seed: UInt64) throws {
        var world = LinkWorld("founder leaves", seed: seed)
        let nodes = [world.addNode(tempo: 128), world.addNode(), world.addNode()]
        for node in nodes {
            try world.enable(node)
            try world.run(until: world.now.value + 1)
        }
        try world.expectTogether(nodes)
        let (session, line) = (world.nodes[1].engine.sessionID, world.state(of: 1).timeline)
        try world.disable(0)
        try world.run(until: 4)
        try world.expectTogether([1, 2])
        #expect(world.nodes[1].engine.sessionID == session)
        // Its clock continues too: after new measurements nobody's grid has moved.
        try world.run(until: 70)
        try world.expectTogether([1, 2])
        #expect(abs(world.state(of: 1).timeline.timeOrigin.microseconds(to: line.timeOrigin)) < 400)
        try world.disable(1)
        try world.run(until: 71)
        #expect(world.nodes[2].engine.peerCount == 0)
        #expect(world.nodes[2].engine.sessionID == world.nodes[2].engine.nodeID)
        #expect(world.state(of: 2).tempo.microsecondsPerBeat == 468_750)
    }
}

extension WorldTime {
    /// In seconds.
    var value: Double { Double(microseconds) / 1e6 }
}

extension LinkWorld {
    /// When a node's last start or stop takes effect, in world time.
    func worldTimeOfStartStop(of node: Int) -> WorldTime {
        nodes[node].clock.worldTime(of: state(of: node).timeForIsPlaying)
    }
}
