import BeatTime
import LinkSession
import Simulation
import Testing

/// Bad networks and busy users, in virtual time.
@Suite
struct NetworkScenarioTests {
    /// Largest distance of grids: half the jitter of a measurement, plus drift until the next one.
    private func bound(jitter: Int64, skew: Int64) -> Int64 { jitter + 2 * skew * 31 + 10 }

    @Test(arguments: Seeds.standing(1...4))
    func `if two peers are enabled within half a second, the smaller ID wins on both sides`(seed: UInt64) throws {
        var world = LinkWorld("enabled together", seed: seed)
        let nodes = [world.addNode(tempo: 90), world.addNode(tempo: 150)]
        try world.enable(nodes[0])
        try world.run(until: 0.1 * Double(seed % 5))
        try world.enable(nodes[1])
        let names = nodes.map { world.nodes[$0].engine.nodeID }
        try world.run(until: 3)
        try world.expectTogether(nodes)
        #expect(world.nodes[0].engine.sessionID == names.min())
    }

    @Test(arguments: Seeds.standing(1...4))
    func `a session split in two continues in both parts and reunites`(seed: UInt64) throws {
        var world = LinkWorld("partition and merge", seed: seed)
        let nodes = (0..<4).map { world.addNode(tempo: 100 + 10 * Double($0)) }
        for node in nodes {
            try world.enable(node)
            try world.run(until: world.now.value + 1)
        }
        try world.expectTogether(nodes)
        world.medium.network.partition([[0, 1], [2, 3]])
        try world.run(until: 15)
        try world.expectTogether([0, 1])
        try world.expectTogether([2, 3])
        try world.edit(0) { $0.setTempo(Tempo(beatsPerMinute: 150), at: $1) }
        try world.run(until: 17)
        try world.edit(3) { $0.setTempo(Tempo(beatsPerMinute: 80), at: $1) }
        try world.run(until: 20)
        #expect(world.state(of: 1).tempo.microsecondsPerBeat == 400_000)
        #expect(world.state(of: 2).tempo.microsecondsPerBeat == 750_000)
        world.medium.network.heal()
        try world.run(until: 22)
        try world.expectTogether(nodes)
    }

    @Test(arguments: Seeds.standing(1...4))
    func `two sessions merge into the older one`(seed: UInt64) throws {
        var world = LinkWorld("merge", seed: seed)
        let nodes = (0..<4).map { world.addNode(tempo: 100 + 10 * Double($0)) }
        world.medium.network.partition([[0, 1], [2, 3]])
        for node in [2, 3, 0, 1] {
            try world.enable(node)
            try world.run(until: world.now.value + 1)
        }
        let older = world.state(of: 2)
        world.medium.network.heal()
        try world.run(until: 7)
        try world.expectTogether(nodes)
        #expect(world.state(of: 2).timeline == older.timeline)
        #expect(world.state(of: 0).tempo.microsecondsPerBeat == 500_000)
    }

    @Test(arguments: Seeds.standing(1...4))
    func `a network that loses every fifth datagram only slows a session down`(seed: UInt64) throws {
        let conditions = LinkConditions(delay: 2000, jitter: 3000, loss: 0.2)
        var world = LinkWorld("loss", seed: seed, conditions: conditions)
        let nodes = (0..<3).map { _ in world.addNode() }
        for node in nodes { try world.enable(node) }
        try world.run(until: 20)
        try world.expectTogether(nodes, within: bound(jitter: 3000, skew: 0))
        try world.edit(1) { $0.setTempo(Tempo(beatsPerMinute: 141), at: $1) }
        try world.run(until: 23)
        try world.expectTogether(nodes, within: bound(jitter: 3000, skew: 0))
        #expect(world.state(of: 2).tempo.microsecondsPerBeat == 425_532)
    }

    @Test(arguments: Seeds.standing(1...4))
    func `reordered and duplicated datagrams are harmless`(seed: UInt64) throws {
        let conditions = LinkConditions(delay: 500, jitter: 1000, duplication: 0.3, reordering: 0.3)
        var world = LinkWorld("reordering", seed: seed, conditions: conditions)
        let nodes = (0..<3).map { _ in world.addNode() }
        for node in nodes { world.setStartStopSync(true, at: node) }
        for node in nodes { try world.enable(node) }
        try world.run(until: 8)
        for step in 1...20 {
            try world.edit(step % 3) {
                $0.setTempo(Tempo(beatsPerMinute: 100 + Double(step)), at: $1)
                $0.setIsPlaying(step % 2 == 0, at: $1)
            }
            try world.run(until: world.now.value + 0.4)
            try world.expectTogether(nodes, within: bound(jitter: 10_000, skew: 0))
            #expect(nodes.allSatisfy { world.state(of: $0).isPlaying == (step % 2 == 0) })
        }
    }

    @Test(arguments: Seeds.standing(1...4))
    func `a peer on two networks counts once and survives the loss of one network`(seed: UInt64) throws {
        var world = LinkWorld("two networks", seed: seed, networkCount: 2)
        let nodes = (0..<2).map { _ in world.addNode() }
        for node in nodes { try world.enable(node, on: [0, 1]) }
        try world.run(until: 5)
        try world.expectTogether(nodes)
        let line = world.state(of: 1).timeline
        try world.unplug(0, from: 0)
        try world.run(until: 15)
        try world.expectTogether(nodes)
        try world.plug(0, into: 0)
        try world.unplug(0, from: 1)
        try world.run(until: 60)
        try world.expectTogether(nodes)
        #expect(abs(world.state(of: 1).timeline.timeOrigin.microseconds(to: line.timeOrigin)) < 200)
        try world.unplug(0, from: 0)
        try world.run(until: 68)
        #expect(world.nodes.allSatisfy { $0.engine.peerCount == 0 })
    }

    @Test(arguments: Seeds.standing(1...4), [2.0, 40])
    func `a suspended laptop rejoins, whether it was the founder or not`(seed: UInt64, seconds: Double) throws {
        for sleeper in 0...1 {
            var world = LinkWorld("suspended laptop", seed: seed)
            let nodes = (0..<3).map { world.addNode(tempo: 100 + 10 * Double($0)) }
            for node in nodes {
                try world.enable(node)
                try world.run(until: world.now.value + 1)
            }
            try world.sleep(sleeper, forSeconds: seconds)
            let line = world.state(of: 2).timeline
            // Its old node ID expires like any other.
            try world.run(until: world.now.value + 7)
            try world.expectTogether(nodes)
            #expect(world.state(of: 0).tempo.microsecondsPerBeat == 600_000)
            #expect(abs(world.state(of: 2).timeline.timeOrigin.microseconds(to: line.timeOrigin)) < 200)
        }
    }

    @Test(arguments: Seeds.standing(1...4))
    func `an edit begun before a join does not bring the joiner's tempo along`(seed: UInt64) throws {
        var world = LinkWorld("edit races join", seed: seed)
        let (peer, ours) = (world.addNode(tempo: 100), world.addNode(tempo: 160))
        try world.enable(peer)
        try world.run(until: 2)
        try world.enable(ours)
        var state = world.state(of: ours)
        try world.run(until: 3)
        state.setTempo(Tempo(beatsPerMinute: 161), at: world.hostTime(of: ours))
        try world.commit(state, at: ours)
        try world.run(until: 4)
        try world.expectTogether([peer, ours])
        #expect(world.state(of: peer).tempo.beatsPerMinute == 100)
    }

    @Test(arguments: Seeds.standing(1...1))
    func `crystals 200 ppm apart separate grids by at most 0.2 ms`(seed: UInt64) throws {
        var world = LinkWorld(
            "bad crystals", seed: seed, conditions: LinkConditions(delay: 300, jitter: 400, loss: 0.01))
        let nodes = [world.addNode(tempo: 120, skew: 100), world.addNode(tempo: 90, skew: -100)]
        for node in nodes {
            try world.enable(node)
            try world.run(until: world.now.value + 1)
        }
        for second in 5...60 {
            try world.run(until: Double(second))
            try world.expectTogether(nodes, within: second < 30 ? 400 : 200)
        }
    }

    @Test
    func `fifteen peers that join one after another form one session`() throws {
        var world = LinkWorld("crowd", seed: 1)
        let nodes = (0..<15).map { world.addNode(tempo: 60 + Double($0), skewUpTo: 50) }
        for (index, node) in nodes.enumerated() {
            try world.run(until: 0.05 * Double(index))
            try world.enable(node)
        }
        try world.run(until: 9)
        try world.expectTogether(nodes, within: 400)
        try world.edit(7) { $0.setTempo(Tempo(beatsPerMinute: 100), at: $1) }
        try world.run(until: 9.3)
        #expect(nodes.allSatisfy { world.state(of: $0).tempo.microsecondsPerBeat == 600_000 })
    }

    @Test(arguments: Seeds.standing(1...32))
    func `five peers with random users agree once they rest`(seed: UInt64) throws {
        var world = LinkWorld(
            "random edits", seed: seed, conditions: LinkConditions(delay: 300, jitter: 400, loss: 0.02))
        try randomUsers(&world, seed: seed)
        try world.expectTogether(Array(0..<5), within: bound(jitter: 400, skew: 40))
        let isPlaying = world.state(of: 0).isPlaying
        #expect((1..<5).allSatisfy { world.state(of: $0).isPlaying == isPlaying })
    }

    /// Eight seconds of five users who join, leave, and change tempo and transport, then rest.
    private func randomUsers(_ world: inout LinkWorld, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed).split("users")
        for _ in 0..<5 {
            let node = world.addNode(tempo: .random(in: 60...180, using: &random), skewUpTo: 40)
            world.setStartStopSync(true, at: node)
        }
        for _ in 0..<40 {
            let node = Int.random(in: 0..<5, using: &random)
            try randomDeed(of: node, in: &world, using: &random)
            try world.run(until: world.now.value + .random(in: 0.01...0.4, using: &random))
        }
        for node in 0..<5 where !world.nodes[node].engine.isEnabled { try world.enable(node) }
        // Long enough for the old IDs of peers that were alone for a moment to expire.
        try world.run(until: world.now.value + 7)
        // Two edits at the same microbeat are a tie, which the protocol resolves only with the next edit.
        try world.edit(2) {
            $0.setTempo(Tempo(beatsPerMinute: $0.tempo.beatsPerMinute == 120 ? 121 : 120), at: $1)
            $0.setIsPlaying(!$0.isPlaying, at: $1)
        }
        try world.run(until: world.now.value + 2)
    }

    private func randomDeed(
        of node: Int, in world: inout LinkWorld, using random: inout SeededGenerator
    ) throws {
        let isEnabled = world.nodes[node].engine.isEnabled
        let number = Double.random(in: 20...300, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0 where isEnabled: try world.disable(node)
        case 0...3 where !isEnabled: try world.enable(node)
        case 4...6: try world.edit(node) { $0.setTempo(Tempo(beatsPerMinute: number), at: $1) }
        case 7: try world.edit(node) { $0.forceBeat(Beats(number), at: $1, quantum: Beats(4)) }
        case 8: try world.edit(node) { $0.requestBeat(.zero, at: $1, quantum: Beats(4)) }
        default: try world.edit(node) { $0.setIsPlaying(!$0.isPlaying, at: $1) }
        }
    }

    @Test
    func `the same seed gives the same run, another seed a different one`() throws {
        let digests = try [UInt64](arrayLiteral: 3, 3, 4).map { seed -> Digest in
            var world = LinkWorld("determinism", seed: seed, conditions: LinkConditions(loss: 0.1))
            try randomUsers(&world, seed: seed)
            return world.trace.digest
        }
        #expect(digests[0] == digests[1])
        #expect(digests[0] != digests[2])
    }
}

/// Cheap clocks and one-sided delays.
@Suite
struct ClockScenarioTests {
    private func claimedError(of node: Int, in world: LinkWorld) -> Double {
        world.nodes[node].engine.measurementErrorMicroseconds(at: world.hostTime(of: node)) ?? 0
    }

    @Test(arguments: [300, -405, 1000, -1000] as [Int64])
    func `a clock that is off is followed on a cable, from the second measurement on, within a millisecond or so`(
        partsPerMillion: Int64
    ) throws {
        var world = LinkWorld("cheap clock", seed: 5, conditions: LinkConditions(delay: 100, jitter: 60))
        let nodes = [world.addNode(skew: 0), world.addNode(tempo: 97, skew: partsPerMillion)]
        try world.enable(nodes[0])
        try world.run(until: 2)
        try world.enable(nodes[1])
        try world.run(until: 2.7)
        try world.expectTogether(nodes, within: 1000)
        for step in 0..<1200 {
            try world.run(until: 2.7 + 0.1 * Double(step))
            let (apart, claimed) = (world.spreadOfGrids(nodes), claimedError(of: nodes[1], in: world))
            // Corrections come every quarter of a second.
            #expect(Double(apart) <= claimed + 0.000_125 * Double(abs(partsPerMillion)) * 1000 + 10)
            #expect(apart < (step < 10 ? 1500 : 300))
        }
    }

    @Test
    func `a delay of 40 ms one way only is within the claimed error`() throws {
        var world = LinkWorld("one way", seed: 1, conditions: LinkConditions(delay: 100, jitter: 60))
        let nodes = [world.addNode(), world.addNode()]
        world.medium.network.set(LinkConditions(delay: 40_000, jitter: 60), from: 0, to: 1)
        try world.enable(nodes[0])
        try world.run(until: 2)
        try world.enable(nodes[1])
        try world.run(until: 12)
        let (apart, claimed) = (world.spreadOfGrids(nodes), claimedError(of: nodes[1], in: world))
        #expect(apart > 19_000)
        #expect(Double(apart) <= claimed)
        #expect(claimed < 25_000)
    }
}
