import BeatTime
import LinkSession
import Simulation
import Testing

/// Who changed what, as each peer sees it.
@Suite
struct ChangeTests {
    /// Scenes of two to five peers, where everybody judges everybody's changes.
    private func judged(seeds: Range<UInt64>, _ conditions: LinkConditions) throws -> ChangeJudgement {
        var judgement = ChangeJudgement()
        for seed in seeds { try judgement.judgeScene(seed: seed, conditions) }
        return judgement
    }

    @Test
    func `on a clean network a change gets its author, certainly or probably`() throws {
        let judgement = try judged(seeds: 1..<16, LinkConditions(delay: 200, jitter: 300))
        #expect(judgement.wrong == 0 && judgement.missed == 0, "\(judgement)")
        #expect(judgement.share > 0.99, "\(judgement)")
        #expect(judgement.certain > 0, "\(judgement)")
    }

    @Test
    func `on a slow network an uncertain author is marked`() throws {
        let judgement = try judged(seeds: 1..<16, LinkConditions(delay: 2_000, jitter: 4_000))
        #expect(judgement.wrong == 0 && judgement.missed == 0, "\(judgement)")
        #expect(judgement.share > 0.98, "\(judgement)")
    }

    @Test
    func `on a network that loses datagrams an uncertain author is marked`() throws {
        let judgement = try judged(seeds: 1..<16, LinkConditions(delay: 300, jitter: 500, loss: 0.05))
        #expect(judgement.wrong == 0 && judgement.missed == 0, "\(judgement)")
        #expect(judgement.share > 0.96, "\(judgement)")
    }

    @Test
    func `on a network that holds back what is sent to everyone, an uncertain author is marked`() throws {
        let conditions = LinkConditions(delay: 1_000, jitter: 3_000, multicastPeriod: 102_400)
        let judgement = try judged(seeds: 1..<16, conditions)
        #expect(judgement.wrong == 0 && judgement.missed == 0, "\(judgement)")
        #expect(judgement.share > 0.98, "\(judgement)")
    }

    @Test(arguments: Seeds.standing(1...4))
    func `the only other peer is certainly the author`(seed: UInt64) throws {
        var world = LinkWorld("two peers", seed: seed)
        let (ours, peer) = (world.addNode(tempo: 100), world.addNode(tempo: 130))
        try world.enable(ours)
        try world.run(until: 1)
        try world.enable(peer)
        try world.run(until: 3)
        try world.edit(peer) { $0.setTempo(Tempo(beatsPerMinute: 150), at: $1) }
        try world.run(until: 3.11)
        let change = try #require(world.nodes[ours].engine.changeLog.changes.last)
        #expect(change.what == .tempo(Tempo(beatsPerMinute: 150)))
        #expect(change.origin == .peer(world.announcer(peer, heardBy: ours)))
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
        let founder = world.announcer(peer, heardBy: ours)
        let change = try #require(world.nodes[ours].engine.changeLog.changes.last)
        #expect(
            change.what
                == .joined(
                    session: founder.node, from: Tempo(beatsPerMinute: 160), to: Tempo(beatsPerMinute: 100)))
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
    func `a join through a member names nobody while the founder is silent`() throws {
        var rig = Rig(tempo: 160)
        let member = Peer(2, session: NodeID(bits: 1))
        rig.join(member)
        let change = try #require(rig.engine.changeLog.changes.last)
        #expect(
            change.what
                == .joined(
                    session: NodeID(bits: 1), from: Tempo(beatsPerMinute: 160), to: Tempo(beatsPerMinute: 100)))
        #expect(change.origin == .unknown)
    }

    /// A rig whose session has had one other member for a while, or two.
    private func joined(_ peers: Peer...) -> Rig {
        var rig = Rig()
        rig.join(peers[0])
        for peer in peers.dropFirst() { rig.hear(peer) }
        rig.advance(milliseconds: 1_000)
        return rig
    }

    @Test
    func `of two peers the first to announce a change is probably its author`() throws {
        var (author, relay) = (Peer(1), Peer(2, session: NodeID(bits: 1)))
        var rig = joined(author, relay)
        let edited = try rig.edited(tempo: 150)
        (author.announcement.timeline, relay.announcement.timeline) = (edited, edited)
        rig.advance(milliseconds: 30)
        rig.hear(author, .alive)
        rig.hear(relay, .alive)
        let change = try #require(rig.engine.changeLog.changes.last)
        #expect(change.what == .tempo(Tempo(beatsPerMinute: 150)))
        #expect(change.origin.node == author.node)
        #expect(change.isProbable)
    }

    @Test
    func `who announced the old state after a change was made is not its author`() throws {
        var (author, relay) = (Peer(1), Peer(2, session: NodeID(bits: 1)))
        var rig = joined(author, relay)
        let edited = try rig.edited(tempo: 150)
        rig.advance(milliseconds: 10)
        rig.hear(relay, .alive)
        (author.announcement.timeline, relay.announcement.timeline) = (edited, edited)
        rig.advance(milliseconds: 30)
        rig.hear(relay, .alive)
        rig.advance(milliseconds: 10)
        rig.hear(author, .alive)
        rig.advance(milliseconds: 50)
        let change = try #require(rig.engine.changeLog.changes.last)
        #expect(change.what == .tempo(Tempo(beatsPerMinute: 150)))
        #expect(change.origin.node == author.node)
        #expect(change.isProbable)
    }

    @Test
    func `a relayed tempo and a fresh play in one announcement settle in order`() throws {
        var relay = Peer(1)
        var rig = joined(relay)
        let edited = try rig.edited(tempo: 150)
        rig.advance(milliseconds: 10)
        rig.hear(relay, .alive)
        rig.advance(milliseconds: 30)
        relay.announcement.timeline = edited
        relay.announcement.startStop = StartStopState(
            isPlaying: true, beats: .zero, timestamp: try rig.edited(tempo: 151).timeOrigin)
        rig.hear(relay, .alive)
        rig.advance(milliseconds: 300)
        let changes = rig.engine.changeLog.changes.suffix(2)
        #expect(changes.map(\.what) == [.tempo(Tempo(beatsPerMinute: 150)), .play])
        #expect(changes.first?.isProbable == true)
    }

    @Test
    func `a change is not certain if its author's announcement is held back`() throws {
        var (author, relay) = (Peer(1), Peer(2, session: NodeID(bits: 1)))
        var rig = joined(author, relay)
        let edited = try rig.edited(tempo: 150)
        relay.announcement.timeline = edited
        rig.hear(relay, .alive)
        // An access point may hold back what it sends to everyone for 100 ms.
        rig.advance(milliseconds: 100)
        rig.hear(author, .alive)
        author.announcement.timeline = edited
        rig.hear(author, .alive)
        rig.advance(milliseconds: 400)
        #expect(rig.engine.changeLog.changes.last?.isProbable == true)
    }

    @Test(arguments: [(49.0, true), (51, false)])
    func `another that announces a change within 50 ms makes its author a guess`(after: Double, isGuess: Bool) throws {
        var author = Peer(1)
        var rig = joined(author)
        author.announcement.timeline = try rig.edited(tempo: 150)
        rig.hear(author, .alive)
        #expect(rig.engine.changeLog.changes.last?.what != .tempo(Tempo(beatsPerMinute: 150)))
        rig.advance(milliseconds: after)
        var other = Peer(2, session: author.node)
        other.announcement.timeline = author.announcement.timeline
        rig.hear(other, .alive)
        rig.advance(milliseconds: 50)
        let change = try #require(rig.engine.changeLog.changes.last)
        #expect(change.origin.node == author.node)
        #expect(change.isProbable == isGuess)
    }

    @Test
    func `a change heard just after another peer has left may be that peer's last`() throws {
        var (gone, relay) = (Peer(2, session: NodeID(bits: 1)), Peer(1))
        var rig = joined(relay, gone)
        gone.announcement.timeline = try rig.edited(tempo: 150)
        relay.announcement.timeline = gone.announcement.timeline
        rig.hear(gone, .byeBye)
        rig.advance(milliseconds: 30)
        rig.hear(relay, .alive)
        rig.advance(milliseconds: 400)
        #expect(rig.engine.changeLog.changes.last?.isProbable == true)
    }

    @Test
    func `a change from another address than the peer's is a guess, with that address`() throws {
        let author = Peer(1)
        var rig = joined(author)
        var forger = author
        forger.source.address = .v4(10, 0, 0, 66)
        forger.announcement.timeline = try rig.edited(tempo: 150)
        rig.hear(forger, .alive)
        rig.advance(milliseconds: 400)
        let change = try #require(rig.engine.changeLog.changes.last)
        #expect(
            change.origin
                == .peer(Announcer(node: author.node, address: forger.source.address, interface: Rig.address)))
        #expect(change.isProbable)
    }

    @Test
    func `changes are listed in the order in which they were heard`() throws {
        var author = Peer(1)
        var rig = joined(author)
        author.announcement.timeline = try rig.edited(tempo: 150)
        rig.hear(author, .alive)
        rig.advance(milliseconds: 10)
        let now = rig.now
        rig.edit { $0.setIsPlaying(true, at: now) }
        let changes = rig.engine.changeLog.changes
        #expect(changes.map(\.what).suffix(2) == [.tempo(Tempo(beatsPerMinute: 150)), .play])
        #expect(changes.map(\.number) == [1, 2, 3])
        // One announcement of both: neither ends the other's wait.
        rig.advance(milliseconds: 1_000)
        author.announcement.timeline = try rig.edited(tempo: 120)
        author.announcement.startStop = StartStopState(
            isPlaying: true, beats: .zero, timestamp: author.announcement.timeline.timeOrigin)
        rig.hear(author, .alive)
        #expect(rig.engine.changeLog.changes.count == 3)
        rig.advance(milliseconds: 50)
        let last = rig.engine.changeLog.changes.suffix(2)
        #expect(last.map(\.what) == [.tempo(Tempo(beatsPerMinute: 120)), .play])
        #expect(last.allSatisfy { $0.origin.node == author.node && !$0.isProbable })
    }

    @Test(arguments: Seeds.standing(1...4))
    func `the knob of one of four peers is one change, of that peer`(seed: UInt64) throws {
        var world = LinkWorld("a knob", seed: seed)
        let nodes = (0..<4).map { _ in world.addNode(tempo: 100) }
        for node in nodes {
            try world.enable(node)
            try world.run(until: world.now.value + 1)
        }
        let before = world.nodes[0].engine.changeLog.changes.count
        for step in 1...250 {
            try world.edit(3) { $0.setTempo(Tempo(beatsPerMinute: 100 + Double(step) / 10), at: $1) }
            try world.run(until: world.now.value + 0.02)
        }
        try world.run(until: world.now.value + 1)
        let changes = world.nodes[0].engine.changeLog.changes.dropFirst(before)
        #expect(changes.count == 1)
        #expect(changes.last?.what.rounded == SessionChange.What.tempo(Tempo(beatsPerMinute: 125)).rounded)
        #expect(changes.last?.origin.node == world.nodes[3].engine.nodeID)
        #expect(changes.last?.isProbable == true)
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

    @Test
    func `a report has a peer's IPv4 address also where IPv6 was heard first`() {
        var rig = Rig()
        rig.join(Peer(1))
        let link = IPAddress.v6(high: 0xfe80 << 48, low: 7)
        rig.addInterface(link)
        var newer = Peer(2, session: NodeID(bits: 1))
        let address = newer.source.address
        newer.source.address = .v6(high: 0xfe80 << 48, low: 8)
        rig.hear(newer, on: link)
        let start = rig.now
        #expect(rig.engine.peerReports(at: rig.now).last?.address == newer.source.address)
        rig.advance(milliseconds: 1_000)
        newer.source.address = address
        rig.hear(newer)
        let report = rig.engine.peerReports(at: rig.now).last
        #expect(report?.address == address)
        #expect(report?.since == start)
    }

    @Test(arguments: [[1, 2], [2, 1]])
    func `a report names a peer once while it joins our session, which one interface tells first`(
        sessions: [UInt64]
    ) {
        var rig = Rig()
        rig.join(Peer(1))
        rig.addInterface(.v4(10, 0, 1, 1))
        for (session, interface) in zip(sessions, [Rig.address, .v4(10, 0, 1, 1)]) {
            rig.hear(Peer(2, session: NodeID(bits: session)), on: interface)
        }
        let reports = rig.engine.peerReports(at: rig.now)
        #expect(reports.map(\.node.bits) == [1, 2])
        #expect(reports.map(\.session.bits) == [1, 1])
        #expect(reports.map(\.isOurs) == [true, true])
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
