import BeatTime
import LinkSession
import Testing

/// Which session a peer is in, and what its timeline is.
@Suite
struct SessionTests {
    /// A peer with an older session and an ID below or above the engine's.
    private func peer(olderBy microseconds: Int64, hasSmallerID: Bool, than rig: inout Rig) -> Peer {
        let peer = Peer(hasSmallerID ? 7 : .max - 7)
        // The engine's session was founded when the rig began, so its ghost time is the time since then.
        rig.responders[peer.measurementEndpoint] = .init(
            session: peer.node, intercept: microseconds - 1_000_000_000)
        return peer
    }

    @Test(arguments: [
        (Int64(600_000), true, true), (600_000, false, true), (400_000, true, true), (400_000, false, false),
        (0, true, true), (0, false, false), (-400_000, true, true), (-400_000, false, false),
        (-600_000, true, false), (-600_000, false, false), (500_000, true, false), (-500_000, true, false),
    ])
    func `the older session wins, or within half a second the smaller ID`(
        olderBy: Int64, hasSmallerID: Bool, isJoined: Bool
    ) {
        var rig = Rig()
        let peer = peer(olderBy: olderBy, hasSmallerID: hasSmallerID, than: &rig)
        rig.hear(peer)
        rig.advance(milliseconds: 100)
        #expect((rig.engine.sessionID == peer.node) == isJoined)
        #expect(rig.engine.peerCount == (isJoined ? 1 : 0))
    }

    @Test
    func `a rejected session is not measured again for half a minute`() {
        var rig = Rig()
        let peer = peer(olderBy: -1_000_000, hasSmallerID: true, than: &rig)
        for _ in 0..<100 {
            rig.hear(peer)
            rig.advance(milliseconds: 250)
        }
        #expect(rig.pings(to: peer.measurementEndpoint).count == 52)
    }

    @Test
    func `joining adopts the tempo, counts the peer and announces the new session`() {
        var rig = Rig(tempo: 120)
        let peer = Peer(7, tempo: 100)
        let nodeID = rig.engine.nodeID
        let before = rig.engine.sessionState.timeline
        rig.join(peer)
        #expect(rig.engine.sessionState.tempo.beatsPerMinute == 100)
        #expect(rig.engine.peerCount == 1)
        #expect(rig.alives.last?.announcement.session == peer.node)
        #expect(rig.alives.last?.announcement.timeline == peer.announcement.timeline)
        #expect(rig.engine.nodeID == nodeID)
        #expect(rig.engine.sessionState.isConnected)
        // Beats continued at 120 BPM up to the join and at 100 BPM from there.
        let joined = rig.pings(to: peer.measurementEndpoint).last?.time ?? rig.now
        #expect(rig.engine.sessionState.timeline.beats(at: joined) == before.beats(at: joined))
    }

    @Test
    func `a session that everyone has left meanwhile is not joined`() {
        var rig = Rig()
        let peer = peer(olderBy: 60_000_000, hasSmallerID: true, than: &rig)
        rig.hear(peer)
        rig.advance(milliseconds: 5)
        rig.hear(peer, .byeBye)
        rig.advance(milliseconds: 100)
        #expect(rig.engine.sessionID == rig.engine.nodeID)
        #expect(rig.engine.peerCount == 0)
    }

    @Test
    func `only a higher beat origin changes a session's timeline, and it is passed on`() {
        var rig = Rig()
        var peer = Peer(7, beatOrigin: 40)
        rig.join(peer)
        for (beatOrigin, tempo, isAdopted) in [(39.0, 90.0, false), (40, 80, false), (40.000001, 70, true)] {
            peer.announcement.timeline.beatOrigin = Beats(beatOrigin)
            peer.announcement.timeline.tempo = Tempo(microsecondsPerBeat: Int64(6e7 / tempo))
            rig.advance(milliseconds: 100)
            rig.forgetWhatWasSent()
            rig.hear(peer)
            #expect((rig.announcement?.timeline == peer.announcement.timeline) == isAdopted)
            #expect(rig.alives.map(\.announcement.timeline) == [rig.announcement?.timeline], "pushed either way")
        }
    }

    @Test
    func `the longest tempo in range is passed on unchanged`() {
        var rig = Rig()
        var peer = Peer(7)
        rig.join(peer)
        peer.announcement.timeline.beatOrigin = Beats(50)
        peer.announcement.timeline.tempo = Tempo(microsecondsPerBeat: 60_060)
        rig.advance(milliseconds: 100)
        rig.hear(peer)
        #expect(rig.engine.sessionState.tempo.beatsPerMinute == 999)
        #expect(rig.alives.last?.announcement.timeline.tempo.microsecondsPerBeat == 60_060)
    }

    @Test
    func `a peer of another session is not counted until it changes to ours`() {
        var rig = Rig()
        rig.join(Peer(7))
        var other = Peer(8)
        rig.hear(other)
        #expect(rig.engine.peerCount == 1)
        other.announcement.session = Peer(7).node
        rig.hear(other)
        #expect(rig.engine.peerCount == 2)
        other.announcement.session = other.node
        rig.hear(other)
        #expect(rig.engine.peerCount == 1)
    }

    @Test
    func `after the last peer left, a new session continues unbroken here and is the youngest of all`() {
        var rig = Rig()
        rig.join(Peer(7, tempo: 93.7, beatOrigin: 17.3, timeOrigin: 12_345_678))
        rig.advance(milliseconds: 1234)
        rig.forgetWhatWasSent()
        let (nodeID, line) = (rig.engine.nodeID, rig.engine.sessionState.timeline)
        rig.hear(Peer(7), .byeBye)
        #expect(rig.engine.peerCount == 0)
        #expect(rig.engine.nodeID != nodeID && rig.engine.sessionID == rig.engine.nodeID)
        #expect(rig.engine.sessionState.tempo == line.tempo)
        #expect(rig.engine.sessionState.timeline.beats(at: rig.now) == line.beats(at: rig.now))
        #expect(abs(rig.engine.sessionState.timeline.timeOrigin.microseconds(to: line.timeOrigin)) <= 1)
        rig.advance(milliseconds: 60)
        #expect(rig.alives.last?.announcement.session == rig.engine.nodeID)
        #expect(!rig.sent.contains { $0.datagram.bytes.count == 20 }, "no bye-bye for the old name")
    }

    @Test
    func `enabling founds a new session that continues unbroken here`() {
        var rig = Rig(tempo: 87, isEnabled: false)
        rig.advance(milliseconds: 300_000)
        let (nodeID, line) = (rig.engine.nodeID, rig.engine.sessionState.timeline)
        rig.enable()
        #expect(rig.engine.nodeID != nodeID)
        #expect(rig.engine.sessionState.timeline.beats(at: rig.now) == line.beats(at: rig.now))
        #expect(abs(rig.engine.sessionState.timeline.timeOrigin.microseconds(to: line.timeOrigin)) <= 1)
        // Its clock begins now, so everyone already present is older.
        let ping = MeasurementMessage.ping(hostTime: rig.now)
        rig.forgetWhatWasSent()
        rig.hear(ping, from: Peer(7).source, channel: .measurement)
        let pong = MeasurementMessage.pong(
            session: rig.engine.sessionID, ghostTime: GhostTime(microseconds: 0), echoing: ping[9...])
        #expect(rig.sent.map(\.datagram.bytes) == [pong])
    }

    @Test
    func `the founder is measured before other members, and any member if the founder is gone`() {
        var rig = Rig()
        let (founder, member) = (Peer(7), Peer(3, session: Peer(7).node))
        let intercept = 60_000_000 - rig.now.microseconds
        for peer in [founder, member] {
            rig.responders[peer.measurementEndpoint] = .init(session: founder.node, intercept: intercept)
        }
        rig.hear(founder)
        rig.advance(milliseconds: 100)
        rig.hear(member, timeToLive: 200)
        rig.hear(founder, timeToLive: 200)
        rig.advance(milliseconds: 31_000)
        let asked = rig.pings(to: founder.measurementEndpoint).count
        #expect(asked > 104)
        #expect(rig.pings(to: member.measurementEndpoint).isEmpty)
        rig.hear(founder, .byeBye)
        rig.advance(milliseconds: 31_000)
        #expect(rig.pings(to: founder.measurementEndpoint).count == asked)
        #expect(rig.pings(to: member.measurementEndpoint).count > 104)
        #expect(rig.engine.sessionID == founder.node)
    }
}
