import BeatTime
import LinkSession
import Simulation
import Testing

/// Peers that are heard, while what is sent to one machine alone does not arrive.
@Suite
struct ReachTests {
    /// Lets peers announce themselves every quarter of a second.
    private func live(_ rig: inout Rig, with peers: [Peer], seconds: Double) {
        for _ in 0..<Int(seconds * 4) {
            for peer in peers { rig.hear(peer, .alive) }
            rig.advance(milliseconds: 250)
        }
    }

    @Test
    func `a peer that is heard and never answers is told, until it answers or is gone`() {
        var rig = Rig()
        let peer = Peer(7)
        live(&rig, with: [peer], seconds: 2)
        #expect(rig.engine.unreachable == nil)
        live(&rig, with: [peer], seconds: 4)
        let told = rig.engine.unreachable
        #expect(told?.address == peer.source.address && told?.direction == .theyDoNotAnswer)
        live(&rig, with: [peer], seconds: 60)
        #expect(rig.engine.unreachable == told)
        rig.responders[peer.measurementEndpoint] = .init(session: peer.node, intercept: 60_000_000 - 1_000_000_000)
        live(&rig, with: [peer], seconds: 2)
        #expect(rig.engine.unreachable == nil && rig.engine.peerCount == 1)
        rig.responders = [:]
        live(&rig, with: [peer], seconds: 6)
        #expect(rig.engine.unreachable == told, "also in our own session")
        live(&rig, with: [], seconds: 12)
        #expect(rig.engine.unreachable == nil && rig.engine.peerCount == 0)
    }

    @Test
    func `a peer that has crashed is not told of, nor one of a session that another member answers for`() {
        var rig = Rig()
        let (founder, mute) = (Peer(7), Peer(8, session: NodeID(bits: 7)))
        rig.join(founder)
        for _ in 0..<240 {
            live(&rig, with: [founder, mute], seconds: 0.25)
            #expect(rig.engine.unreachable == nil)
        }
        rig.responders = [:]
        for _ in 0..<40 {
            live(&rig, with: [], seconds: 0.25)
            #expect(rig.engine.unreachable == nil)
        }
    }

    @Test
    func `a peer in a younger session that does not join ours is told`() {
        var rig = Rig()
        let young = Peer(7)
        rig.responders[young.measurementEndpoint] = .init(session: young.node, intercept: -60_000_000 - 1_000_000_000)
        live(&rig, with: [young], seconds: 5)
        #expect(rig.engine.unreachable == nil, "it may be about to")
        live(&rig, with: [young], seconds: 10)
        #expect(rig.engine.unreachable?.address == young.source.address)
        #expect(rig.engine.unreachable?.direction == .theyDoNotJoin)
        live(&rig, with: [Peer(7, session: rig.engine.sessionID)], seconds: 2)
        #expect(rig.engine.unreachable == nil)
    }

    @Test
    func `a peer that is off the network tells of nobody`() {
        var rig = Rig()
        live(&rig, with: [Peer(7)], seconds: 6)
        #expect(rig.engine.unreachable != nil)
        rig.disable()
        #expect(rig.engine.unreachable == nil)
    }
}
