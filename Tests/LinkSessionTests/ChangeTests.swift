import BeatTime
import LinkSession
import Simulation
import Testing

/// Who changed what, as each peer sees it.
@Suite
struct ChangeTests {
    /// Scenes of three to five peers, where everybody judges everybody's changes.
    private func judged(seeds: Range<UInt64>, _ conditions: LinkConditions) throws -> ChangeJudgement {
        var judgement = ChangeJudgement()
        for seed in seeds { try judgement.judgeScene(seed: seed, conditions) }
        return judgement
    }

    @Test
    func `on a clean network a change gets its author, certainly or probably`() throws {
        let judgement = try judged(seeds: 1..<31, LinkConditions(delay: 200, jitter: 300))
        print("clean network: \(judgement)")
        #expect(judgement.wrong == 0 && judgement.missed == 0)
        #expect(judgement.share > 0.99)
        #expect(judgement.certain > 5 * judgement.probable)
    }

    @Test
    func `on a slow network an uncertain author is marked`() throws {
        let judgement = try judged(seeds: 1..<31, LinkConditions(delay: 2_000, jitter: 4_000))
        print("slow network: \(judgement)")
        #expect(judgement.wrong == 0 && judgement.missed == 0)
        #expect(judgement.share > 0.98)
    }

    @Test
    func `on a network that loses datagrams an uncertain author is marked`() throws {
        let judgement = try judged(seeds: 1..<31, LinkConditions(delay: 300, jitter: 500, loss: 0.05))
        print("lossy network: \(judgement)")
        #expect(judgement.wrong == 0 && judgement.missed == 0)
        #expect(judgement.share > 0.95)
    }

    @Test(arguments: Seeds.standing(1...4))
    func `with one other peer the author is known at once`(seed: UInt64) throws {
        var world = LinkWorld("two peers", seed: seed)
        let (ours, peer) = (world.addNode(tempo: 100), world.addNode(tempo: 130))
        try world.enable(ours)
        try world.run(until: 1)
        try world.enable(peer)
        try world.run(until: 2)
        try world.edit(peer) { $0.setTempo(Tempo(beatsPerMinute: 150), at: $1) }
        try world.run(until: 2.06)
        let change = try #require(world.nodes[ours].engine.changeLog.changes.last)
        #expect(change.what == .tempo(Tempo(beatsPerMinute: 150)))
        #expect(change.origin == .peer(world.teller(peer, heardBy: ours)))
        #expect(!change.isProbable)
    }

    @Test
    func `a join names the session and the tempo that it brought`() throws {
        var world = LinkWorld("join", seed: 1)
        let (peer, ours) = (world.addNode(tempo: 100), world.addNode(tempo: 160))
        try world.enable(peer)
        try world.run(until: 2)
        try world.enable(ours)
        try world.run(until: 3)
        let founder = world.teller(peer, heardBy: ours)
        let change = try #require(world.nodes[ours].engine.changeLog.changes.last)
        #expect(
            change.what
                == .joined(
                    session: founder.node, founder: founder, from: Tempo(beatsPerMinute: 160),
                    to: Tempo(beatsPerMinute: 100)))
        #expect(change.origin == .peer(founder))
        #expect(!change.isProbable)
        #expect(world.nodes[peer].engine.changeLog.changes.isEmpty)
    }

    @Test
    func `play and stop of others are recorded, but not as followed, while sync is off`() throws {
        var world = LinkWorld("no sync", seed: 1)
        let (peer, ours) = (world.addNode(), world.addNode())
        world.setStartStopSync(true, at: peer)
        try world.enable(peer)
        try world.run(until: 1)
        try world.enable(ours)
        try world.run(until: 2)
        for isPlaying in [true, false] {
            try world.edit(peer) { $0.setIsPlaying(isPlaying, at: $1) }
            try world.run(until: world.now.value + 0.5)
            let change = try #require(world.nodes[ours].engine.changeLog.changes.last)
            #expect(change.what == (isPlaying ? .play : .stop))
            #expect(change.origin.node == world.nodes[peer].engine.nodeID)
            #expect(!change.isFollowed)
            let age = try #require(change.madeAt).microseconds(to: world.hostTime(of: ours))
            #expect(abs(age - 500_000) < 1_000)
        }
        #expect(!world.state(of: ours).isPlaying)
    }

    @Test
    func `a turned knob is one change, and the last 32 are kept`() throws {
        var rig = Rig()
        for step in 1...40 {
            rig.setTempo(60 + Double(step))
            rig.advance(milliseconds: 100)
        }
        #expect(rig.engine.changeLog.changes.count == 1)
        #expect(rig.engine.changeLog.changes.last?.number == 40)
        for step in 1...40 {
            rig.advance(milliseconds: 1_000)
            rig.setTempo(120 + Double(step))
        }
        let changes = rig.engine.changeLog.changes
        #expect(changes.map(\.number) == Array(49...80))
        #expect(changes.allSatisfy { $0.origin == .here })
    }

    @Test
    func `a peer that announced the old state after the change did not make it`() throws {
        var rig = Rig()
        var (author, relay) = (Peer(1), Peer(2, session: NodeID(bits: 1)))
        rig.join(author)
        rig.hear(relay)
        rig.advance(milliseconds: 500)
        rig.hear(author)
        // The author edits now, but may not announce it for a while; the relay learns it from an answer.
        let edited = try rig.edited(tempo: 150)
        rig.advance(milliseconds: 20)
        rig.hear(relay, .alive)
        rig.advance(milliseconds: 10)
        (author.announcement.timeline, relay.announcement.timeline) = (edited, edited)
        rig.hear(relay, .alive)
        rig.advance(milliseconds: 20)
        rig.hear(author, .alive)
        let change = try #require(rig.engine.changeLog.changes.last)
        #expect(change.what == .tempo(Tempo(beatsPerMinute: 150)))
        #expect(change.origin.node == author.node)
        #expect(!change.isProbable)
    }

    @Test
    func `if all who announce a change only passed it on, nobody is named`() throws {
        var rig = Rig()
        let gone = Peer(1)
        var relay = Peer(2, session: gone.node)
        rig.join(gone)
        rig.hear(relay)
        rig.advance(milliseconds: 500)
        rig.hear(gone, .byeBye)
        let edited = try rig.edited(tempo: 150)
        rig.advance(milliseconds: 20)
        rig.hear(relay)
        rig.advance(milliseconds: 10)
        relay.announcement.timeline = edited
        rig.hear(relay, .alive)
        rig.advance(milliseconds: 200)
        #expect(rig.engine.changeLog.changes.last?.what != .tempo(Tempo(beatsPerMinute: 150)))
        rig.advance(milliseconds: 200)
        let change = try #require(rig.engine.changeLog.changes.last)
        #expect(change.what == .tempo(Tempo(beatsPerMinute: 150)))
        #expect(change.origin == .unknown)
        #expect(change.isProbable)
    }

    @Test
    func `a report names each peer once, with session, tempo and round trip, until its time to live is over`() throws {
        var rig = Rig()
        let (founder, member) = (Peer(1), Peer(2, session: NodeID(bits: 1), tempo: 125))
        rig.join(founder)
        rig.addInterface(.v4(10, 0, 1, 1))
        let start = rig.now
        rig.hear(member, timeToLive: 2)
        rig.hear(member, timeToLive: 3, on: .v4(10, 0, 1, 1))
        rig.advance(milliseconds: 1_000)
        rig.hear(member, timeToLive: 2)
        rig.hear(Peer(3))
        let reports = rig.engine.peerReports(at: rig.now)
        #expect(reports.map(\.node.bits) == [1, 2, 3])
        #expect(reports.map(\.session.bits) == [1, 1, 3])
        #expect(reports[0].roundTrip == 2 * Rig.delay)
        #expect(reports[0].clockError != nil)
        #expect(reports[1].roundTrip == nil && reports[1].clockError == nil)
        #expect(reports[1].since == start)
        #expect(reports[1].address == member.source.address)
        #expect(reports[1].interfaces.map(\.address) == [Rig.address, .v4(10, 0, 1, 1)])
        #expect(reports[1].tempo == Tempo(beatsPerMinute: 125))
        rig.advance(milliseconds: 1_999)
        #expect(rig.engine.peerReports(at: rig.now).map(\.node.bits).contains(2))
        rig.advance(milliseconds: 1)
        #expect(!rig.engine.peerReports(at: rig.now).map(\.node.bits).contains(2))
    }
}

extension Rig {
    fileprivate mutating func setTempo(_ tempo: Double) {
        let now = now
        edit { $0.setTempo(Tempo(beatsPerMinute: tempo), at: now) }
    }

    /// The timeline of a joined session after another peer has changed its tempo at this moment.
    fileprivate func edited(tempo: Double) throws -> GhostTimeline {
        let old = try #require(announcement).timeline
        let ghost = GhostTime(microseconds: now.microseconds + 60_000_000 - 1_000_000_000)
        return GhostTimeline(
            tempo: Tempo(beatsPerMinute: tempo), beatOrigin: old.beats(at: ghost), timeOrigin: ghost)
    }
}
