import BeatTime
import LinkSession
import Simulation
import Testing

/// Floods of made-up peers and sessions: a real peer gets in beside them, and the real ones stay.
@Suite
struct StrangerTests {
    /// Where a flood comes from.
    enum Origin: CaseIterable {
        /// The real peer's own address: a program on the same host.
        case same
        /// One other address.
        case another
        /// Eight other addresses.
        case eight
        /// An address of its own for each datagram: forged.
        case forged

        func address(_ number: Int) -> IPAddress {
            switch self {
            case .same: StrangerTests.realAddress
            case .another: .v4(10, 66, 0, 1)
            case .eight: .v4(10, 66, 0, UInt8(number % 8))
            case .forged: .v4(10, 66, UInt8(number >> 8 & 255), UInt8(number & 255))
            }
        }
    }

    private static let realAddress = IPAddress.v4(10, 0, 0, 107)
    /// The rig's own session was founded when it began.
    private static let sameAge: Int64 = -1_000_000_000

    private func stranger(_ number: Int, from origin: Origin, session: NodeID? = nil) -> Peer {
        var peer = Peer(1_000_000 + UInt64(number), session: session)
        let address = origin.address(number)
        peer.source = Endpoint(address: address, port: 7001)
        peer.announcement.measurementEndpoint = Endpoint(address: address, port: UInt16(10_000 + number % 50_000))
        return peer
    }

    /// Lets a number of strangers announce themselves each second, and calls somebody every 250 ms.
    ///
    /// - Returns: after how many milliseconds the rig was in the session waited for; nil if it never was.
    private func flood(
        _ rig: inout Rig, perSecond rate: Int, seconds: Double, until session: NodeID? = nil, _ strangers: [Peer],
        timeToLive: UInt8 = 5, others: (inout Rig) -> Void = { _ in }
    ) -> Double? {
        let count = Int(Double(rate) * seconds)
        for number in 0..<count {
            if number % (rate / 4) == 0 { others(&rig) }
            rig.hear(strangers[number % strangers.count], .alive, timeToLive: timeToLive)
            rig.advance(milliseconds: 1000 / Double(rate))
            if number % 1000 == 0 { rig.forgetWhatWasSent() }
            if let session, rig.engine.sessionID == session { return Double(number) * 1000 / Double(rate) }
        }
        return nil
    }

    @Test(arguments: [
        (Origin.same, Int64(100)), (.same, 25_000), (.another, 100), (.eight, 100), (.forged, 100),
    ])
    func `an older session is joined within a second beside 3000 forged datagrams a second`(
        origin: Origin, delay: Int64
    ) throws {
        var rig = Rig()
        rig.delay = delay
        let strangers = (0..<(delay == 100 ? 3000 : 12_000)).map { stranger($0, from: origin) }
        _ = flood(&rig, perSecond: 3000, seconds: 0.4, Array(strangers[..<1200]))
        let real = Peer(7)
        rig.responders[real.measurementEndpoint] = .init(session: real.node, intercept: 60_000_000 + Self.sameAge)
        // 52 round trips over a slow network take longer than all else.
        let ownTime = delay == 100 ? 0 : 52 * 2 * Double(delay) / 1000
        let taken = try #require(
            flood(&rig, perSecond: 3000, seconds: 3.5, until: real.node, Array(strangers[1200...])) {
                $0.hear(real, .alive)
            })
        #expect(taken < 1000 + ownTime)
        #expect(rig.engine.sessionState.tempo.beatsPerMinute == 100)
    }

    @Test(arguments: [Origin.same, .another, .forged])
    func `a peer gets in beside eleven hundred fillers, at once and after a minute of them`(origin: Origin) throws {
        var rig = Rig()
        let fillers = (0..<1100).map { stranger($0, from: origin, session: rig.engine.sessionID) }
        _ = flood(&rig, perSecond: 2200, seconds: origin == .another ? 1 : 0.5, fillers, timeToLive: 255)
        rig.advance(milliseconds: 60_000)
        let real = Peer(7)
        rig.responders[real.measurementEndpoint] = .init(session: real.node, intercept: 60_000_000 + Self.sameAge)
        rig.hear(real, .alive)
        rig.advance(milliseconds: 100)
        #expect(rig.engine.sessionID == real.node)
        // Renewed, in the session joined, they do not push it out either.
        let more = (0..<1650).map { stranger(5000 + $0, from: origin, session: real.node) }
        _ = flood(&rig, perSecond: 2200, seconds: 0.75, more, timeToLive: 255) { $0.hear(real, .alive) }
        #expect(rig.engine.sessionID == real.node)
        var faster = real
        faster.announcement.timeline.tempo = Tempo(beatsPerMinute: 150)
        faster.announcement.timeline.beatOrigin = Beats(50)
        rig.hear(faster, .alive)
        #expect(rig.engine.sessionState.tempo.beatsPerMinute == 150)
        #expect(rig.engine.peerCount <= 1024)
    }

    @Test(arguments: Origin.allCases)
    func `an older session is joined beside a thousand younger ones that answer pings`(origin: Origin) throws {
        var rig = Rig()
        let fakes = (0..<1000).map { stranger($0, from: origin) }
        for (number, fake) in fakes.enumerated() {
            rig.responders[fake.measurementEndpoint] = .init(
                session: fake.node, intercept: Self.sameAge - 5_000_000 - Int64(number))
        }
        let real = Peer(7)
        rig.responders[real.measurementEndpoint] = .init(session: real.node, intercept: 60_000_000 + Self.sameAge)
        let taken = try #require(
            flood(&rig, perSecond: 4000, seconds: 3, until: real.node, fakes) { rig in
                if rig.now.microseconds >= 1_000_200_000 { rig.hear(real, .alive) }
            })
        #expect(taken < 1250)
    }

    @Test
    func `a member of our own session stays though strangers answer pings`() {
        var rig = Rig()
        let own = rig.engine.sessionID
        var member = Peer(7)
        member.announcement.session = own
        for _ in 0..<3 { rig.hear(member, .alive) }
        for number in 0..<1200 {
            let fake = stranger(number, from: .another)
            rig.responders[fake.measurementEndpoint] = .init(session: fake.node, intercept: Self.sameAge - 5_000_000)
            rig.hear(fake, .alive)
            rig.advance(milliseconds: 0.5)
            if number % 500 == 0 { rig.hear(member, .alive) }
        }
        #expect(rig.engine.sessionID == own)
        #expect(rig.engine.peerCount == 1)
    }

    @Test
    func `a peer that was heard twice stays though a thousand strangers are heard once each`() {
        var rig = Rig()
        var member = Peer(7)
        member.announcement.session = rig.engine.sessionID
        for _ in 0..<2 { rig.hear(member, .alive) }
        for number in 0..<1200 {
            rig.hear(stranger(number, from: .forged), .alive)
            rig.advance(milliseconds: 0.5)
        }
        #expect(rig.engine.peerCount == 1)
    }

    @Test
    func `an older session is joined once a hundred fakes have fallen silent`() {
        var rig = Rig()
        for number in 0..<110 {
            let fake = stranger(number, from: .another)
            rig.responders[fake.measurementEndpoint] = .init(
                session: fake.node, intercept: Self.sameAge - 5_000_000)
            rig.hear(fake, .alive, timeToLive: 255)
            rig.advance(milliseconds: 20)
        }
        rig.join(Peer(7))
        #expect(rig.engine.sessionID == Peer(7).node)
    }

    @Test
    func `a crowd that answers is asked no more than it takes to see that it is younger`() {
        var rig = Rig()
        rig.delay = 5000
        let fakes = (0..<1000).map { stranger($0, from: .eight) }
        for fake in fakes {
            rig.responders[fake.measurementEndpoint] = .init(session: fake.node, intercept: Self.sameAge - 5_000_000)
        }
        var pings = 0
        for round in 0..<3 {
            for fake in fakes {
                rig.hear(fake, .alive)
                rig.advance(milliseconds: 0.25)
            }
            pings += rig.sent.count { $0.datagram.channel == .measurement }
            rig.forgetWhatWasSent()
            if round == 0 { #expect(pings < 5000) }
        }
        #expect(pings < 7000, "and not again")
    }

    @Test
    func `a bye-bye counts only from the address that announced the peer`() {
        var rig = Rig()
        let peer = Peer(7)
        rig.join(peer)
        var forger = peer
        forger.source = Endpoint(address: .v4(10, 66, 6, 6), port: 7000)
        rig.hear(forger, .byeBye)
        #expect(rig.engine.peerCount == 1)
        rig.hear(forger, .response)
        rig.hear(forger, .byeBye)
        #expect(rig.engine.peerCount == 1, "having announced it too does not help")
        var elsewhere = peer
        elsewhere.source.port = 7999
        rig.hear(elsewhere, .byeBye)
        #expect(rig.engine.peerCount == 0, "ports may differ")
    }

    @Test
    func `a peer that has moved to another address may say bye-bye from there`() {
        var rig = Rig()
        let peer = Peer(7)
        rig.join(peer)
        var moved = peer
        moved.source = Endpoint(address: .v4(10, 0, 0, 9), port: 7000)
        for _ in 0..<30 {
            rig.hear(moved, .alive)
            rig.advance(milliseconds: 250)
        }
        rig.hear(moved, .byeBye)
        #expect(rig.engine.peerCount == 0)
    }

    @Test
    func `a session that nobody announces any more is forgotten within its time to live`() {
        var rig = Rig()
        let fake = stranger(1, from: .another)
        rig.responders[fake.measurementEndpoint] = .init(session: fake.node, intercept: Self.sameAge - 5_000_000)
        rig.hear(fake)
        rig.advance(milliseconds: 5900)
        rig.hear(fake)
        rig.advance(milliseconds: 100)
        #expect(rig.pings(to: fake.measurementEndpoint).count == 52, "it is known until then")
        rig.advance(milliseconds: 6000)
        rig.hear(fake)
        rig.advance(milliseconds: 100)
        #expect(rig.pings(to: fake.measurementEndpoint).count == 104, "and then measured as a new one")
    }

    @Test
    func `the warning names the flooding address, until half a minute after`() {
        var rig = Rig()
        rig.join(Peer(7))
        for number in 0..<20 { rig.hear(stranger(number, from: .eight, session: Peer(7).node)) }
        #expect(rig.engine.crowd == nil)
        for number in 0..<1100 { rig.hear(stranger(100 + number, from: .another, session: Peer(7).node)) }
        #expect(rig.engine.crowd?.source == Origin.another.address(0))
        rig.advance(milliseconds: 29_999)
        #expect(rig.engine.crowd != nil)
        rig.advance(milliseconds: 1)
        #expect(rig.engine.crowd == nil)
    }

    @Test
    func `a thousand peers behind one address are all counted`() {
        var rig = Rig()
        rig.join(Peer(7))
        for number in 0..<1000 {
            var peer = stranger(number, from: .same)
            peer.announcement.session = Peer(7).node
            rig.hear(peer)
        }
        #expect(rig.engine.peerCount == 1001)
        #expect(rig.engine.refusedDatagrams == 0)
        #expect(rig.engine.crowd == nil)
    }

    @Test
    func `changes by a thousand members leave the last 32, all guesses`() {
        var rig = Rig()
        var strangers = (0..<1000).map { stranger($0, from: .forged, session: rig.engine.sessionID) }
        for stranger in strangers { rig.hear(stranger) }
        for index in strangers.indices {
            strangers[index].announcement.timeline.beatOrigin = Beats(Double(100 + index))
            strangers[index].announcement.timeline.tempo = Tempo(beatsPerMinute: 100 + Double(index % 2))
            rig.hear(strangers[index], .alive)
            rig.advance(milliseconds: 1)
            // Changes by guessed peers within a second are one.
            if index % 10 == 0 { rig.advance(milliseconds: 1_000) }
        }
        #expect(rig.engine.changeLog.changes.count == 32)
        #expect(rig.engine.changeLog.changes.allSatisfy { $0.isProbable })
    }
}
