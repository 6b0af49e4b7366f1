import BeatTime
import LinkSession
import Simulation
import Testing

/// Who comes back right after leaving must not move the others: those left alone have just founded a session.
@Suite
struct RestartTests {
    private enum Return: CaseIterable { case offAndOn, restart, crash }

    /// Lets a node leave and return within half a second, with a tempo of its own; nobody else may notice.
    private func leaveAndReturn(
        _ way: Return, peers: Int, seed: UInt64, isFounder: Bool, conditions: LinkConditions = LinkConditions()
    ) throws {
        var world = LinkWorld("\(way), \(peers) others", seed: seed, conditions: conditions)
        var random = SeededGenerator(seed: seed)
        let nodes = (0...peers).map { _ in world.addNode(tempo: 120, skewUpTo: 20) }
        let ours = isFounder ? nodes[0] : nodes[1]
        for node in nodes {
            try world.enable(node)
            try world.run(until: world.now.value + 1)
        }
        try world.expectTogether(nodes)
        try world.edit(ours) { $0.setTempo(Tempo(beatsPerMinute: 133), at: $1) }
        try world.run(until: world.now.value + Double.random(in: 1...1.3, using: &random))
        let others = nodes.filter { $0 != ours }
        let before = others.map { world.state(of: $0) }
        let pause = Double.random(in: 0...0.5, using: &random)
        if way == .crash { world.crash(ours) } else { try world.disable(ours) }
        try world.run(until: world.now.value + pause)
        if way == .offAndOn {
            try world.edit(ours) { $0.setTempo(Tempo(beatsPerMinute: 77), at: $1) }
        } else {
            world.restart(ours, tempo: 77)
        }
        try world.enable(ours)
        for _ in 0..<100 {
            try world.run(until: world.now.value + 0.1)
            for (other, state) in zip(others, before) {
                let line = world.state(of: other).timeline
                #expect(line.tempo == state.timeline.tempo, "seed \(seed), \(way): the tempo stays")
                let moved = abs(line.timeOrigin.microseconds(to: state.timeline.timeOrigin))
                #expect(moved < 1000, "seed \(seed), \(way): the beat stays, but moves by \(moved) us")
            }
        }
        try world.expectTogether(nodes, within: 1000)
        #expect(world.state(of: ours).tempo == before[0].tempo)
    }

    @Test(arguments: Seeds.standing(1...12))
    func `who comes back within half a second moves the beat of no other, of one or of two`(seed: UInt64) throws {
        for way in Return.allCases {
            for isFounder in [true, false] {
                for peers in 1...2 {
                    try leaveAndReturn(way, peers: peers, seed: seed, isFounder: isFounder)
                }
            }
        }
    }

    @Test(arguments: Seeds.standing(1...6))
    func `nor does it on a network that holds announcements back, and loses some`(seed: UInt64) throws {
        let conditions = LinkConditions(delay: 1000, jitter: 500, loss: 0.02, multicastPeriod: 100_000)
        for way in Return.allCases {
            try leaveAndReturn(way, peers: 1, seed: seed, isFounder: true, conditions: conditions)
        }
    }

    @Test
    func `a program that has just started says nothing for 0.6 s, and then is as old as its start`() {
        var rig = Rig(isEnabled: false)
        rig.noteStart()
        rig.enable()
        rig.advance(milliseconds: 599)
        #expect(rig.sent.isEmpty)
        rig.advance(milliseconds: 1)
        #expect(rig.alives.count == 1)
        rig.advance(milliseconds: 400)
        // One that begins half a second after it is younger.
        let peer = Peer(7)
        rig.responders[peer.measurementEndpoint] = .init(session: peer.node, intercept: -1_000_000_000 - 510_000)
        rig.hear(peer)
        rig.advance(milliseconds: 100)
        #expect(rig.engine.sessionID == rig.engine.nodeID)
    }

    @Test
    func `while it says nothing it joins whatever session is heard, and counts as a member at once`() {
        var rig = Rig(isEnabled: false)
        rig.noteStart()
        rig.enable()
        rig.advance(milliseconds: 100)
        let peer = Peer(.max - 7)
        rig.responders[peer.measurementEndpoint] = .init(session: peer.node, intercept: -1_000_000_000 - 50_000)
        rig.hear(peer, .alive)
        rig.advance(milliseconds: 100)
        #expect(rig.engine.sessionID == peer.node)
        #expect(rig.engine.peerCount == 1)
        #expect(rig.alives.map(\.announcement.session) == [peer.node])
    }

    @Test
    func `a session that is heard but cannot be measured at once is older than the one founded then`() {
        var rig = Rig(isEnabled: false)
        rig.noteStart()
        rig.enable()
        let peer = Peer(.max - 7)
        rig.hear(peer)
        rig.advance(milliseconds: 1200)
        #expect(rig.alives.last?.announcement.session == rig.engine.sessionID)
        // It began when ours was told to.
        rig.responders[peer.measurementEndpoint] = .init(session: peer.node, intercept: -1_000_000_000)
        rig.hear(peer)
        rig.advance(milliseconds: 100)
        #expect(rig.engine.sessionID == peer.node)
    }
}
