import BeatTime
import LinkSession
import Simulation
import Testing

/// Strangers who claim to be real peers, or members of real sessions: the real ones are heard, joined and kept.
@Suite
struct ImpostorTests {
    /// What an attacker's clock answers to pings.
    enum Clock: CaseIterable {
        case silent
        /// The right session, a minute younger than it is.
        case younger
        case wrongSession
        /// The right session after 40 ms, without the time.
        case useless
    }

    /// The rig's own session was founded when it began.
    private static let sameAge: Int64 = -1_000_000_000

    /// An attacker's version of an announcement, from one of its addresses.
    private func impostor(
        of peer: Peer, _ number: Int, _ clock: Clock = .silent, in rig: inout Rig
    ) -> Peer {
        var impostor = peer
        let address = IPAddress.v4(10, 66, UInt8(number >> 8 & 255), UInt8(number & 255))
        impostor.source = Endpoint(address: address, port: 7001)
        let endpoint = Endpoint(address: address, port: 6001)
        impostor.announcement.measurementEndpoint = endpoint
        switch clock {
        case .silent: rig.responders[endpoint] = nil
        case .younger:
            rig.responders[endpoint] = .init(session: peer.announcement.session, intercept: Self.sameAge - 60_000_000)
        case .wrongSession: rig.responders[endpoint] = .init(session: NodeID(bits: 99), intercept: 0)
        case .useless:
            rig.responders[endpoint] = .init(
                session: peer.announcement.session, intercept: 0, slowness: 40_000, tellsTime: false)
        }
        return impostor
    }

    private func older(_ peer: Peer, in rig: inout Rig) -> Peer {
        rig.responders[peer.measurementEndpoint] = .init(
            session: peer.announcement.session, intercept: Self.sameAge + 60_000_000)
        return peer
    }

    /// Lets strangers act 1000 times a second, and from half a second on the real peer announce itself.
    ///
    /// - Returns: after how many milliseconds the real peer's session was joined; nil if it was not within three seconds.
    private func joinTime(
        _ rig: inout Rig, of real: Peer, perMillisecond rate: Int = 1, beside act: (inout Rig, Int) -> Void
    ) -> Int? {
        for number in 0..<3500 {
            for step in 0..<rate {
                act(&rig, number * rate + step)
                rig.advance(milliseconds: 1 / Double(rate))
            }
            if number >= 500, number % 250 == 249 { rig.hear(real, .alive) }
            if number % 100 == 0 { rig.forgetWhatWasSent() }
            if number >= 500, rig.engine.sessionID == real.announcement.session { return number - 500 }
        }
        return nil
    }

    @Test(arguments: Clock.allCases, [1, 8, 3000])
    func `an older session is joined within a second though others announce its founder's node`(
        clock: Clock, addresses: Int
    ) throws {
        var rig = Rig()
        let real = older(Peer(7), in: &rig)
        let impostors = (0..<addresses).map { impostor(of: real, $0, clock, in: &rig) }
        let taken = try #require(
            joinTime(&rig, of: real) { rig, number in rig.hear(impostors[number % addresses], .alive) })
        #expect(taken < 1000)
        #expect(rig.engine.sessionState.tempo.beatsPerMinute == 100)
    }

    @Test(arguments: Clock.allCases, [1, 8])
    func `an older session is joined within a second though others announce its founder in other sessions`(
        clock: Clock, addresses: Int
    ) throws {
        var rig = Rig()
        let real = older(Peer(7), in: &rig)
        let taken = try #require(
            joinTime(&rig, of: real) { rig, number in
                var other = real
                other.announcement.session = NodeID(bits: UInt64(1_000_000 + number))
                rig.hear(impostor(of: other, number % addresses, clock, in: &rig), .alive)
            })
        #expect(taken < 1000)
    }

    @Test(arguments: Clock.allCases, [1, 8, 3000])
    func `an older session without its founder is joined within a second though liars are in it, too`(
        clock: Clock, addresses: Int
    ) throws {
        var rig = Rig()
        let real = older(Peer(700, session: NodeID(bits: 7)), in: &rig)
        // Node IDs before the real member's, and the founder's.
        let liars = (0..<addresses).map { number in
            impostor(of: Peer(UInt64(7 + number), session: NodeID(bits: 7)), number, clock, in: &rig)
        }
        let taken = try #require(
            joinTime(&rig, of: real) { rig, number in rig.hear(liars[number % addresses], .alive) })
        #expect(taken < 1000)
    }

    @Test(arguments: Clock.allCases, [7, 700] as [UInt64])
    func `an older session is joined within a second though liars of ever new nodes are in it, too`(
        clock: Clock, node: UInt64
    ) throws {
        var rig = Rig()
        rig.delay = 2000
        let real = older(Peer(node, session: NodeID(bits: 7)), in: &rig)
        let taken = try #require(
            joinTime(&rig, of: real) { rig, number in
                let liar = Peer(UInt64(1_000_000 + number), session: NodeID(bits: 7))
                rig.hear(impostor(of: liar, number % 8, clock, in: &rig), .alive)
            })
        #expect(taken < 1000)
    }

    @Test(arguments: [Clock.silent, .wrongSession])
    func `a founder is asked though a liar announces its node from its own address with ever new endpoints`(
        clock: Clock
    ) throws {
        var rig = Rig()
        let real = older(Peer(7), in: &rig)
        let taken = try #require(
            joinTime(&rig, of: real) { rig, number in
                var liar = impostor(of: real, 0, clock, in: &rig)
                let responder = rig.responders[liar.measurementEndpoint]
                liar.source = real.source
                liar.announcement.measurementEndpoint?.port = UInt16(10_000 + number)
                rig.responders[liar.measurementEndpoint] = responder
                rig.hear(liar, .alive)
            })
        #expect(taken < 2000)
    }

    @Test
    func `an older session is joined within a second though a distant timeline is announced for it`() throws {
        var rig = Rig()
        let real = older(Peer(7), in: &rig)
        var liar = impostor(of: Peer(6, session: real.node), 0, in: &rig)
        liar.announcement.timeline = GhostTimeline(
            tempo: Tempo(beatsPerMinute: 20), beatOrigin: Beats(microbeats: 1 << 53),
            timeOrigin: GhostTime(microseconds: 0))
        let taken = try #require(joinTime(&rig, of: real) { rig, _ in rig.hear(liar, .alive) })
        #expect(taken < 1000)
        // As all its members do, who have taken that timeline over.
        #expect(rig.engine.sessionState.tempo.beatsPerMinute == 20)
    }

    @Test(arguments: [100, 1000] as [Int64])
    func `an older session is joined within a second though somebody keeps entering and leaving ours`(
        delay: Int64
    ) throws {
        var rig = Rig()
        rig.delay = delay
        let real = older(Peer(7), in: &rig)
        let taken = try #require(
            joinTime(&rig, of: real) { rig, number in
                let guest = Peer(UInt64(1000 + number % 50), session: rig.engine.sessionID)
                rig.hear(guest, number % 2 == 0 ? .response : .byeBye)
                rig.hear(Peer(UInt64(1000 + number % 50)), .byeBye)
            })
        #expect(taken < 1000)
    }

    @Test
    func `an older session whose founder was wrongly found younger is joined within half a minute`() {
        var rig = Rig()
        let real = Peer(7)
        rig.responders[real.measurementEndpoint] = .init(session: real.node, intercept: Self.sameAge - 60_000_000)
        rig.hear(real)
        rig.advance(milliseconds: 250)
        let found = older(real, in: &rig)
        var quarters = 0
        while rig.engine.sessionID != real.node, quarters < 240 {
            rig.hear(found)
            rig.advance(milliseconds: 250)
            quarters += 1
        }
        #expect(quarters <= 120)
    }

    @Test(arguments: [100, 1000] as [Int64])
    func `an older session is joined within a second beside 3000 forged pongs a second`(delay: Int64) throws {
        var rig = Rig()
        rig.delay = delay
        let real = older(Peer(7), in: &rig)
        let elsewhere = Endpoint(address: .v4(10, 0, 0, 2), port: 6001)
        let taken = try #require(
            joinTime(&rig, of: real, perMillisecond: 3) { rig, _ in
                let sent = rig.now.advanced(byMicroseconds: -20)
                let young = GhostTime(microseconds: sent.microseconds + Self.sameAge - 60_000_000)
                let echo = MeasurementMessage.ping(hostTime: sent, previousGhostTime: young)[9...]
                let pong = MeasurementMessage.pong(session: real.node, ghostTime: young, echoing: echo)
                rig.hear(pong, from: elsewhere, channel: .measurement)
            })
        #expect(taken < 1000)
    }

    @Test(arguments: Clock.allCases, [DiscoveryHeader.Kind.alive, .byeBye])
    func `our session is not left though others announce its only other member in theirs, or say good-bye for it`(
        clock: Clock, then kind: DiscoveryHeader.Kind
    ) {
        var rig = Rig()
        let real = older(Peer(7), in: &rig)
        rig.join(real)
        let (node, line) = (rig.engine.nodeID, rig.engine.sessionState.timeline)
        for number in 0..<8000 {
            var other = real
            other.announcement.session = NodeID(bits: UInt64(1_000_000 + number % 10))
            let impostor = impostor(of: other, number % 8, clock, in: &rig)
            rig.hear(impostor, .alive, timeToLive: 0)
            if kind == .byeBye { rig.hear(impostor, .byeBye) }
            rig.advance(milliseconds: 1)
            if number % 250 == 0 { rig.hear(real, .alive) }
            if number % 100 == 0 { rig.forgetWhatWasSent() }
            guard rig.engine.peerCount == 1 else { break }
        }
        #expect(rig.engine.sessionID == real.node)
        #expect(rig.engine.nodeID == node)
        #expect(rig.engine.peerCount == 1)
        #expect(rig.engine.sessionState.timeline == line)
    }

    @Test
    func `who announces a peer first does not keep the peer itself out`() {
        var rig = Rig()
        let session = rig.engine.sessionID
        var real = Peer(7, session: session)
        var impostor = impostor(of: real, 0, in: &rig)
        impostor.announcement.session = NodeID(bits: 99)
        for _ in 0..<10 {
            rig.hear(impostor, .alive)
            rig.hear(real, .alive)
            rig.advance(milliseconds: 100)
        }
        #expect(rig.engine.peerCount == 1)
        real.announcement.timeline.tempo = Tempo(beatsPerMinute: 150)
        real.announcement.timeline.beatOrigin = Beats(50)
        rig.hear(real, .alive)
        #expect(rig.engine.sessionState.tempo.beatsPerMinute == 150)
        rig.hear(real, .byeBye)
        #expect(rig.engine.peerCount == 0)
    }

    @Test
    func `a report lists an impostor apart, and the peer at its own address`() throws {
        var rig = Rig()
        let real = Peer(7)
        rig.join(real)
        var impostor = impostor(of: real, 0, in: &rig)
        impostor.source.address = .v4(10, 0, 0, 2)
        rig.hear(impostor)
        impostor.announcement.session = NodeID(bits: 99)
        impostor.source.address = .v4(10, 0, 0, 3)
        rig.hear(impostor)
        let reports = rig.engine.peerReports(at: rig.now)
        try #require(reports.count == 2)
        #expect(reports.map(\.session) == [real.node, NodeID(bits: 99)])
        #expect(reports.map(\.address) == [real.source.address, impostor.source.address])
        #expect(reports[0].interfaces.map(\.address) == [Rig.address])
        #expect(reports[0].clockError != nil && reports[1].clockError == nil)
    }

    @Test
    func `a program on this machine is one peer though it answers from the address of another interface`() {
        var rig = Rig()
        let other = IPAddress.v4(10, 0, 1, 1)
        rig.addInterface(other)
        var program = Peer(7, session: rig.engine.sessionID)
        for address in [Rig.address, other] {
            program.source.address = address
            rig.hear(program)
        }
        #expect(rig.engine.peerReports(at: rig.now).map(\.address) == [Rig.address])
        program.source.address = Rig.address
        rig.hear(program, .byeBye)
        #expect(rig.engine.peerCount == 0)
    }

    @Test(arguments: Clock.allCases)
    func `a joined session's clock is still measured though liars are in it, too`(clock: Clock) {
        var rig = Rig()
        let real = older(Peer(700, session: NodeID(bits: 7)), in: &rig)
        rig.join(real)
        let line = rig.engine.sessionState.timeline
        let liars = (0..<8).map { number in
            impostor(of: Peer(UInt64(8 + number), session: NodeID(bits: 7)), number, clock, in: &rig)
        }
        for second in 0..<40 {
            for step in 0..<4 {
                for liar in liars { rig.hear(liar) }
                rig.hear(real)
                rig.advance(milliseconds: 250)
                if step == 0, second == 0 { rig.forgetWhatWasSent() }
            }
        }
        #expect(rig.engine.sessionState.timeline == line)
        #expect(rig.pings(to: real.measurementEndpoint).count > 500, "17 a second")
    }

    @Test
    func `strangers in other sessions displace no member of ours, however often they announce themselves`() {
        var rig = Rig()
        let member = Peer(7, session: rig.engine.sessionID)
        let node = rig.engine.nodeID
        for _ in 0..<2 { rig.hear(member, .response) }
        for number in 0..<5000 {
            var stranger = Peer(UInt64(1_000_000 + number))
            stranger.source.address = .v4(10, 66, UInt8(number >> 8 & 255), UInt8(number & 255))
            for _ in 0..<3 { rig.hear(stranger, .response, timeToLive: 255) }
            rig.advance(milliseconds: 0.1)
            if number % 2500 == 0 { rig.hear(member, .response) }
            if number % 500 == 0 { rig.forgetWhatWasSent() }
        }
        #expect(rig.engine.peerCount == 1)
        #expect(rig.engine.nodeID == node)
    }

    @Test
    func `a younger session of several members is measured once`() {
        var rig = Rig()
        let members = [7, 8, 9].map { Peer($0, session: NodeID(bits: 7)) }
        for member in members {
            rig.responders[member.measurementEndpoint] = .init(
                session: NodeID(bits: 7), intercept: Self.sameAge - 5_000_000)
        }
        // It would join ours, which takes such peers less than half a second.
        for _ in 0..<20 {
            for member in members { rig.hear(member) }
            rig.advance(milliseconds: 20)
        }
        #expect(members.map { rig.pings(to: $0.measurementEndpoint).count } == [52, 0, 0])
        #expect(rig.engine.sessionID == rig.engine.nodeID)
    }

    @Test
    func `a thousand members who change the tempo all the time cause no more than 20 announcements a second`() {
        var rig = Rig()
        let session = rig.engine.sessionID
        var members = (0..<1023).map { number in
            var member = Peer(UInt64(1000 + number), session: session)
            member.source.address = .v4(10, 66, 0, UInt8(number % 8))
            return member
        }
        for number in 0..<9000 {
            let index = number % members.count
            members[index].announcement.timeline.tempo = Tempo(beatsPerMinute: Double(20 + number % 980))
            members[index].announcement.timeline.beatOrigin = Beats(100 + Double(number) / 100)
            rig.hear(members[index], .response)
            rig.advance(milliseconds: 1.0 / 3)
        }
        #expect(rig.engine.sessionID == session)
        #expect(rig.engine.peerCount == 1023)
        #expect(rig.alives.count <= 61)
        #expect(rig.sent.count == rig.alives.count)
        #expect(rig.engine.changeLog.changes.count <= 32)
    }
}
