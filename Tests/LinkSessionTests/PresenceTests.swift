import BeatTime
import LinkSession
import Testing

/// Announcing oneself, answering, and tracking peers.
@Suite
struct PresenceTests {
    @Test
    func `an idle peer announces itself every 250 ms`() {
        var rig = Rig()
        rig.advance(milliseconds: 2000)
        let times = rig.alives.map { $0.time.microseconds - rig.alives[0].time.microseconds }
        #expect(times == (0...8).map { 250_000 * Int64($0) })
    }

    @Test
    func `a change is announced at once, and a burst of changes every 50 ms with the newest state`() {
        var rig = Rig()
        rig.advance(milliseconds: 200)
        rig.forgetWhatWasSent()
        for step in 1...60 {
            rig.edit { $0.setTempo(Tempo(beatsPerMinute: 100 + Double(step)), at: $0.timeForIsPlaying) }
            rig.advance(milliseconds: 5)
        }
        rig.advance(milliseconds: 60)
        let alives = rig.alives
        #expect(alives[0].time.microseconds == 1_000_200_000)
        for (one, next) in zip(alives, alives.dropFirst()) {
            #expect((50_000...51_000).contains(one.time.microseconds(to: next.time)))
        }
        #expect(alives.last?.announcement.timeline.tempo.microsecondsPerBeat == 375_000)
    }

    @Test
    func `an alive is answered to its sender, a response is not answered`() {
        var rig = Rig()
        let peer = Peer(7)
        rig.forgetWhatWasSent()
        rig.hear(peer, .response)
        #expect(!rig.sent.contains { $0.datagram.destination == .peer(peer.source) })
        rig.hear(peer, .alive)
        let responses = rig.sent.filter { $0.datagram.destination == .peer(peer.source) }.map(\.datagram)
        #expect(responses.count == 1)
        #expect(responses.first?.channel == .discovery)
        #expect(responses.first.map { $0.bytes.count } == 107)
        let header = responses.first.flatMap { try? DiscoveryDecoder($0.bytes).header }
        #expect(header == DiscoveryHeader(kind: .response, timeToLive: 5, sender: rig.engine.nodeID))
    }

    @Test
    func `an alive with an invalid payload is answered, but otherwise ignored`() {
        var rig = Rig()
        rig.join(Peer(7))
        rig.forgetWhatWasSent()
        let stranger = Peer(8, session: Peer(7).node)
        let alive = DiscoveryHeader(kind: .alive, timeToLive: 5, sender: stranger.node)
        rig.hear(alive.encoded(with: stranger.announcement) + [1, 2, 3], from: stranger.source)
        #expect(rig.sent.map(\.datagram.destination) == [.peer(stranger.source)])
        #expect(rig.engine.peerCount == 1)
        #expect(rig.engine.refusedDatagrams == 1)
    }

    @Test
    func `answering a crowd does not stop a peer from announcing itself to all`() {
        var rig = Rig()
        for _ in 0..<500 {
            rig.hear(Peer(7), .alive)
            rig.advance(milliseconds: 10)
        }
        let gaps = zip(rig.alives, rig.alives.dropFirst()).map { $0.time.microseconds(to: $1.time) }
        #expect(gaps.count >= 4)
        #expect(gaps.allSatisfy { $0 <= 1_100_000 })
    }

    @Test
    func `a silent peer is removed a second after its time to live`() {
        for (timeToLive, milliseconds) in [(UInt8(2), 3000.0), (0, 1000)] {
            var rig = Rig()
            let founder = Peer(7)
            rig.join(founder)
            rig.advance(milliseconds: 10)
            rig.hear(founder, timeToLive: timeToLive)
            rig.advance(milliseconds: milliseconds - 1)
            #expect(rig.engine.peerCount == 1)
            rig.advance(milliseconds: 1)
            #expect(rig.engine.peerCount == 0)
        }
    }

    @Test
    func `a peer that is heard stays`() {
        var rig = Rig()
        rig.join(Peer(7))
        for _ in 0..<100 {
            rig.hear(Peer(7), timeToLive: 1)
            rig.advance(milliseconds: 900)
        }
        #expect(rig.engine.peerCount == 1)
    }

    @Test
    func `a bye-bye removes a peer at once, but only from the interface it came on`() {
        var rig = Rig()
        let second = IPAddress.v4(192, 168, 0, 1)
        rig.addInterface(second)
        rig.join(Peer(7))
        rig.hear(Peer(7), on: second)
        #expect(rig.engine.peerCount == 1, "one peer on two interfaces")
        rig.hear(Peer(7), .byeBye)
        #expect(rig.engine.peerCount == 1)
        rig.hear(Peer(7), .byeBye, on: second)
        #expect(rig.engine.peerCount == 0)
    }

    @Test
    func `peers that say good-bye are not lost; those that fall silent or go with their interface are`() {
        for (isLost, leave): (Bool, (inout Rig) -> Void) in [
            (false, { $0.hear(Peer(7), .byeBye) }), (true, { $0.advance(milliseconds: 7_000) }),
            (true, { $0.removeInterface(Rig.address) }), (false, { $0.disable() }),
        ] {
            var rig = Rig()
            rig.join(Peer(7))
            #expect(!rig.engine.hasLostPeers)
            leave(&rig)
            #expect(rig.engine.peerCount == 0 && rig.engine.hasLostPeers == isLost)
        }
        var rig = Rig()
        rig.join(Peer(7))
        rig.advance(milliseconds: 7_000)
        rig.join(Peer(8))
        #expect(rig.engine.peerCount == 1 && !rig.engine.hasLostPeers, "somebody is there again")
    }

    @Test
    func `removing an interface sends a bye-bye and forgets its peers`() {
        var rig = Rig()
        rig.join(Peer(7))
        rig.forgetWhatWasSent()
        let nodeID = rig.engine.nodeID
        rig.removeInterface(Rig.address)
        let header = DiscoveryHeader(kind: .byeBye, timeToLive: 0, sender: nodeID)
        #expect(rig.sent.map(\.datagram.bytes) == [header.encoded(with: nil)])
        #expect(rig.engine.peerCount == 0)
        #expect(rig.engine.interfaceAddresses.isEmpty)
    }

    @Test
    func `leaving sends one bye-bye on every interface with the present ID`() {
        var rig = Rig()
        rig.addInterface(.v4(192, 168, 0, 1))
        rig.join(Peer(7))
        rig.forgetWhatWasSent()
        let header = DiscoveryHeader(kind: .byeBye, timeToLive: 0, sender: rig.engine.nodeID)
        rig.disable()
        #expect(rig.sent.map(\.datagram.bytes) == Array(repeating: header.encoded(with: nil), count: 2))
        #expect(rig.engine.peerCount == 0)
        #expect(rig.engine.nextDeadline == nil)
    }

    @Test
    func `own messages that come back are ignored, even under old IDs`() {
        var rig = Rig()
        rig.advance(milliseconds: 1000)
        let mine = rig.sent.map(\.datagram.bytes)
        rig.join(Peer(7))
        rig.hear(Peer(7), .byeBye)
        rig.forgetWhatWasSent()
        for bytes in mine { rig.hear(bytes, from: Endpoint(address: Rig.address, port: 4000)) }
        #expect(rig.sent.isEmpty)
        #expect(rig.engine.peerCount == 0)
        #expect(rig.engine.refusedDatagrams == 0)
    }

    @Test
    func `over IPv6 the IPv6 endpoint is announced, and only peers with an IPv6 endpoint are measured`() {
        var rig = Rig()
        let address = IPAddress.v6(high: 0xfe80 << 48, low: 7)
        rig.forgetWhatWasSent()
        rig.addInterface(address)
        let alive = rig.sent.first { $0.datagram.interface == address && $0.datagram.destination == .group }
        #expect(alive?.datagram.bytes.count == 119)
        #expect(rig.alives.map(\.announcement.measurementEndpoint) == [Endpoint(address: address, port: 5000)])
        var peer = Peer(7)
        rig.hear(peer, on: address)
        #expect(rig.pings(to: peer.measurementEndpoint).isEmpty)
        peer.announcement.measurementEndpoint = Endpoint(address: .v6(high: 0xfe80 << 48, low: 8), port: 6000)
        rig.hear(peer, on: address)
        let pings = rig.sent.filter { $0.datagram.destination == .peer(peer.measurementEndpoint) }
        #expect(pings.map(\.datagram.interface) == [address])
    }

    @Test
    func `new sockets of an interface are announced, and no peer is lost`() {
        var rig = Rig()
        rig.join(Peer(7))
        rig.advance(milliseconds: 100)
        rig.forgetWhatWasSent()
        rig.addInterface(Rig.address)
        #expect(rig.alives.map(\.announcement.measurementEndpoint?.port) == [5000])
        #expect(rig.engine.peerCount == 1)
    }

    @Test
    func `a disabled peer sends and receives nothing, but still serves its own programs`() {
        var rig = Rig(isEnabled: false)
        rig.hear(Peer(7), .alive)
        rig.edit {
            $0.setTempo(Tempo(beatsPerMinute: 90), at: $0.timeForIsPlaying)
            $0.setIsPlaying(true, at: $0.timeForIsPlaying)
        }
        rig.advance(milliseconds: 60_000)
        #expect(rig.sent.isEmpty)
        #expect(rig.engine.sessionState.tempo.beatsPerMinute == 90)
        #expect(rig.engine.sessionState.isPlaying)
    }
}
