import BeatTime
import LinkSession
import TestVectors
import Testing

/// Measuring another session's clock, and answering with one's own.
@Suite
struct MeasurementTests {
    @Test
    func `a session is measured with 52 consecutive pings`() {
        var rig = Rig()
        let peer = Peer(7)
        rig.join(peer)
        let pings = rig.pings(to: peer.measurementEndpoint)
        #expect(pings.map(\.size) == [25] + Array(repeating: 41, count: 51))
        let gaps = zip(pings, pings.dropFirst()).map { $0.time.microseconds(to: $1.time) }
        #expect(gaps.allSatisfy { $0 == 2 * Rig.delay })
        #expect(rig.engine.sessionID == peer.node)
    }

    @Test
    func `symmetric delay does not shift the measured clock`() {
        var rig = Rig()
        let peer = Peer(7, tempo: 60, beatOrigin: 0, timeOrigin: 0)
        rig.join(peer)
        // The peer's ghost time was one minute when the test began, and beat 0 of its session is at ghost time 0.
        #expect(rig.engine.sessionState.timeline.timeOrigin.microseconds == 1_000_000_000 - 60_000_000)
    }

    @Test
    func `without answers there are six pings 50 ms apart, then silence until the next message`() {
        var rig = Rig()
        let peer = Peer(7)
        rig.hear(peer)
        rig.advance(milliseconds: 2000)
        let pings = rig.pings(to: peer.measurementEndpoint)
        #expect(pings.map { $0.time.microseconds - 1_000_000_000 } == (0...5).map { Int64($0) * 50_000 })
        #expect(pings.allSatisfy { $0.size == 25 })
        rig.hear(peer)
        rig.advance(milliseconds: 400)
        #expect(rig.pings(to: peer.measurementEndpoint).count == 12)
    }

    @Test
    func `a message while the measurement runs does not start another`() {
        var rig = Rig()
        let peer = Peer(7)
        for _ in 0..<25 {
            rig.hear(peer, .alive)
            rig.advance(milliseconds: 10)
        }
        #expect(rig.pings(to: peer.measurementEndpoint).count == 6)
    }

    @Test
    func `a lost pong costs 50 ms, but not the measurement`() {
        var rig = Rig()
        let peer = Peer(7)
        let intercept = 60_000_000 - rig.now.microseconds
        rig.responders[peer.measurementEndpoint] = .init(session: peer.node, intercept: intercept, answers: 10)
        rig.hear(peer)
        rig.advance(milliseconds: 40)
        rig.responders[peer.measurementEndpoint]?.answers = .max
        rig.advance(milliseconds: 100)
        #expect(rig.engine.sessionID == peer.node)
        // Each of the two chains began with a pong worth one value, so 52 more exceed the required hundred.
        #expect(rig.pings(to: peer.measurementEndpoint).count == 1 + 1 + 52)
    }

    @Test
    func `a session is measured though two pings in five are lost`() {
        var rig = Rig()
        let peer = Peer(7)
        let intercept = 60_000_000 - rig.now.microseconds
        rig.hear(peer)
        var count = 0
        for _ in 0..<4_000 where rig.engine.sessionID != peer.node {
            let pings = rig.sent.filter { $0.datagram.channel == .measurement }
            rig.advance(milliseconds: 1)
            guard pings.count > count, let ping = pings.last?.datagram else { continue }
            count = pings.count
            if count % 5 == 1 || count % 5 == 3 { continue }
            let ghost = GhostTime(microseconds: rig.now.microseconds + intercept)
            let pong = MeasurementMessage.pong(session: peer.node, ghostTime: ghost, echoing: ping.bytes[9...])
            rig.hear(pong, from: peer.measurementEndpoint, channel: .measurement)
        }
        #expect(rig.engine.sessionID == peer.node)
    }

    @Test
    func `a peer that answers every fifth ping is not asked for ever`() {
        var rig = Rig()
        let peer = Peer(7)
        let intercept = 60_000_000 - rig.now.microseconds
        rig.hear(peer, timeToLive: 60)
        var counts: [Int] = []
        for _ in 0..<8_000 {
            let pings = rig.pings(to: peer.measurementEndpoint)
            let isNew = pings.count > (counts.last ?? 0)
            counts.append(pings.count)
            rig.advance(milliseconds: 1)
            guard isNew, pings.count % 5 == 0, let ping = rig.sent.last(where: { $0.datagram.channel == .measurement })
            else { continue }
            let ghost = GhostTime(microseconds: rig.now.microseconds + intercept)
            let pong = MeasurementMessage.pong(
                session: peer.node, ghostTime: ghost, echoing: ping.datagram.bytes[9...])
            rig.hear(pong, from: peer.measurementEndpoint, channel: .measurement)
        }
        // A hundred pings lost, 50 ms each: a clock measured for longer has drifted meanwhile.
        #expect(counts[4_000] > 80)
        #expect(counts[6_000] == counts[7_999])
    }

    @Test
    func `a pong of the wrong session ends the measurement`() {
        var rig = Rig()
        let peer = Peer(7)
        rig.responders[peer.measurementEndpoint] = .init(session: NodeID(bits: 99), intercept: 0)
        rig.hear(peer)
        rig.advance(milliseconds: 1000)
        #expect(rig.pings(to: peer.measurementEndpoint).count == 1)
        rig.responders = [:]
        rig.join(peer)
        #expect(rig.engine.sessionID == peer.node)
    }

    @Test
    func `two sessions measured at once do not disturb each other`() {
        var rig = Rig()
        let (old, older) = (Peer(7), Peer(8))
        for (peer, age) in [(old, Int64(60_000_000)), (older, 90_000_000)] {
            rig.responders[peer.measurementEndpoint] = .init(
                session: peer.node, intercept: age - rig.now.microseconds)
        }
        rig.hear(old)
        rig.hear(older)
        rig.advance(milliseconds: 100)
        #expect(rig.pings(to: old.measurementEndpoint).count == 52)
        #expect(rig.pings(to: older.measurementEndpoint).count == 52)
        #expect(rig.engine.sessionID == older.node)
    }

    @Test
    func `a pong from another address than the one pinged is accepted`() {
        var rig = Rig()
        let peer = Peer(7)
        rig.hear(peer)
        let elsewhere = Endpoint(address: .v4(10, 0, 0, 9), port: 1)
        for index in 0..<51 {
            let ping = rig.sent.last { $0.datagram.channel == .measurement }?.datagram.bytes ?? []
            rig.advance(milliseconds: 0.2)
            let ghost = GhostTime(microseconds: 60_000_000 + 200 * Int64(index) + 100)
            let pong = MeasurementMessage.pong(session: peer.node, ghostTime: ghost, echoing: ping[9...])
            rig.hear(pong, from: elsewhere, channel: .measurement)
        }
        #expect(rig.engine.sessionID == peer.node)
        #expect(rig.pings(to: elsewhere).count == 51)
    }

    @Test
    func `unexpected pongs have no effect`() throws {
        var rig = Rig()
        rig.forgetWhatWasSent()
        let pong = try LinkVectors.load().packet("pong2")
        rig.hear(pong, from: Peer(7).measurementEndpoint, channel: .measurement)
        // A pong that echoes a time at which nothing was sent does not help either.
        rig.hear(Peer(7))
        rig.hear(pong, from: Peer(7).measurementEndpoint, channel: .measurement)
        #expect(rig.pings(to: Peer(7).measurementEndpoint).count == 1)
    }

    @Test
    func `pongs without a time eventually end a measurement`() {
        var rig = Rig()
        let peer = Peer(7)
        // This clock shows zero in every pong.
        rig.hear(peer)
        for _ in 0..<2000 {
            guard let ping = rig.sent.last(where: { $0.datagram.channel == .measurement }) else { break }
            rig.advance(milliseconds: 1)
            let pong = MeasurementMessage.pong(
                session: peer.node, ghostTime: GhostTime(microseconds: 0), echoing: ping.datagram.bytes[9...])
            rig.hear(pong, from: peer.measurementEndpoint, channel: .measurement)
        }
        #expect(rig.pings(to: peer.measurementEndpoint).count <= 501)
        #expect(rig.engine.sessionID == rig.engine.nodeID)
    }

    @Test(arguments: [0, 1, 16, 32])
    func `a ping is answered with session, ghost time and its own payload`(size: Int) {
        var rig = Rig()
        rig.advance(milliseconds: 1234)
        rig.forgetWhatWasSent()
        let stranger = Endpoint(address: .v4(10, 9, 8, 7), port: 60001)
        let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        let header = Array(MeasurementMessage.ping(hostTime: rig.now).prefix(9))
        rig.hear(header + payload, from: stranger, channel: .measurement)
        let pong = MeasurementMessage.pong(
            session: rig.engine.sessionID, ghostTime: GhostTime(microseconds: 1_234_000), echoing: payload[...])
        #expect(pong.count == 41 + size)
        #expect(rig.sent.map(\.datagram.bytes) == [pong])
        #expect(rig.sent.map(\.datagram.destination) == [.peer(stranger)])
        #expect(rig.sent.map(\.datagram.channel) == [.measurement])
    }

    @Test
    func `pings and pongs carry the time at which they are sent`() throws {
        var rig = Rig()
        rig.hear(Peer(7))
        let header = Array(MeasurementMessage.ping(hostTime: rig.now).prefix(9))
        rig.hear(header, from: Peer(8).source, channel: .measurement)
        let late = rig.now.advanced(byMicroseconds: 37)
        let sent = rig.sent.filter { $0.datagram.channel == .measurement }.map { $0.datagram.bytes(leavingAt: late) }
        let pong = MeasurementMessage.pong(
            session: rig.engine.sessionID, ghostTime: GhostTime(microseconds: 37), echoing: [])
        #expect(sent == [MeasurementMessage.ping(hostTime: late), pong])
    }

    @Test
    func
        `a joined session is measured after half a second, then every second with 17 pings and every 30 seconds with 52`()
    {
        var rig = Rig()
        rig.advance(milliseconds: 100_000)
        #expect(!rig.sent.contains { $0.datagram.channel == .measurement }, "one founded here is never measured")
        let peer = Peer(7)
        rig.join(peer)
        for _ in 0..<62 {
            rig.advance(milliseconds: 1000)
            rig.hear(peer)
        }
        var runs: [[HostTime]] = []
        for (time, _) in rig.pings(to: peer.measurementEndpoint) {
            if let last = runs.last?.last, last.microseconds(to: time) < 400_000 {
                runs[runs.count - 1].append(time)
            } else {
                runs.append([time])
            }
        }
        let joined = runs[0][51]
        #expect(runs.enumerated().allSatisfy { $1.count == ([0, 31, 61].contains($0) ? 52 : 17) })
        #expect(runs.dropFirst().map { joined.microseconds(to: $0[0]) } == (0..<62).map { 500_000 + $0 * 1_000_000 })
    }

    @Test
    func `one wild measurement is rejected, a second one that agrees with it is accepted`() {
        var rig = Rig()
        let peer = Peer(7)
        rig.join(peer)
        rig.advance(milliseconds: 10_000)
        let line = rig.engine.sessionState.timeline
        rig.responders[peer.measurementEndpoint]?.intercept += 1000
        rig.advance(milliseconds: 1000)
        #expect(rig.engine.sessionState.timeline == line)
        rig.responders[peer.measurementEndpoint]?.intercept -= 1000
        rig.hear(peer)
        rig.advance(milliseconds: 2000)
        #expect(rig.engine.sessionState.timeline == line)
        // Its clock is now 1 ms ahead, so its beats come 1 ms earlier.
        rig.responders[peer.measurementEndpoint]?.intercept += 1000
        rig.advance(milliseconds: 2000)
        #expect(rig.engine.sessionState.timeline.timeOrigin.microseconds(to: line.timeOrigin) == 1000)
        #expect(rig.engine.clockSteps == -1000)
        let beats = rig.engine.sessionState.timeline.beats(at: rig.now) - line.beats(at: rig.now)
        #expect(abs(beats.microbeats) <= 1, "rounding apart")
    }

    @Test
    func `a peer that cannot be measured on one interface is measured on its other one from then on`() {
        var rig = Rig()
        rig.addInterface(.v4(10, 0, 0, 2))
        let deaf = Peer(7)
        var answering = deaf
        answering.announcement.measurementEndpoint = Endpoint(address: .v4(10, 0, 0, 77), port: 6001)
        let target = answering.measurementEndpoint
        rig.responders[target] = .init(session: deaf.node, intercept: 60_000_000 - rig.now.microseconds)
        rig.hear(deaf)
        rig.advance(milliseconds: 400)
        rig.hear(answering, on: .v4(10, 0, 0, 2))
        rig.advance(milliseconds: 100)
        #expect(rig.engine.sessionID == deaf.node)
        let inVain = rig.pings(to: deaf.measurementEndpoint).count
        for _ in 0..<5 {
            rig.hear(deaf)
            rig.hear(answering, on: .v4(10, 0, 0, 2))
            rig.advance(milliseconds: 1000)
        }
        #expect(rig.pings(to: deaf.measurementEndpoint).count == inVain)
        #expect(rig.pings(to: target).count == 52 + 5 * 17)
    }

    @Test
    func `a peer without a measurement endpoint cannot be measured`() {
        for endpoint in [
            nil, Endpoint(address: .v4(0), port: 0), Endpoint(address: .v4(10, 0, 0, 5), port: 0),
            Endpoint(address: .v4(224, 76, 78, 75), port: 20808), Endpoint(address: .v4(255, 255, 255, 255), port: 9),
            Endpoint(address: .v6(high: 0xfe80 << 48, low: 1), port: 9),
        ] {
            var rig = Rig()
            var peer = Peer(7)
            peer.announcement.measurementEndpoint = endpoint
            rig.forgetWhatWasSent()
            rig.hear(peer)
            #expect(!rig.sent.contains { $0.datagram.channel == .measurement })
        }
    }
}
