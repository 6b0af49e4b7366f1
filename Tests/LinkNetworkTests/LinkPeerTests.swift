import BeatTime
import Glibc
import LinkNetwork
import LinkSession
import RealTime
import Synchronization
import Testing

/// Link peers on real sockets and threads, on the loopback interface of a separate network namespace.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct LinkPeerTests {
    init() throws { try requirePrivateNamespace() }

    private static let group: UInt32 = 0xe04c_4e4b
    private static let port: UInt16 = 20808

    private func tempo(_ beatsPerMinute: Double) -> Tempo { Tempo(beatsPerMinute: beatsPerMinute) }

    /// Two peers in one session; the first has founded it.
    private func together(
        sync: Bool = false
    ) async throws -> (founder: LinkPeer, joiner: LinkPeer, witnesses: (founder: Witness, joiner: Witness)) {
        let (first, second) = (Witness(), Witness())
        let founder = try LinkPeer(
            tempo: tempo(133), isEnabled: true, isStartStopSyncEnabled: sync, onChange: first.onChange)
        try await first.see { $0.isEnabled && $0.interfaces == ["127.0.0.1"] }
        // Of two sessions whose ages differ by less than 0.5 s, the one with the smaller ID would win.
        let older = RawSocket()
        _ = older.receive(withinMilliseconds: 600)
        let joiner = try LinkPeer(
            tempo: tempo(80), isEnabled: true, isStartStopSyncEnabled: sync, onChange: second.onChange)
        try await second.see { $0.peerCount == 1 }
        try await first.see { $0.peerCount == 1 }
        return (founder, joiner, (first, second))
    }

    @Test
    func `two peers meet, and the joiner takes over tempo and phase`() async throws {
        let (founder, joiner, _) = try await together()
        #expect(founder.state.sessionID == joiner.state.sessionID)
        #expect(founder.state.sessionState.tempo == tempo(133))
        #expect(joiner.state.sessionState.tempo.microsecondsPerBeat == tempo(133).microsecondsPerBeat)
        #expect(founder.state.sessionState.isConnected)
        // It measures every second; on a busy machine the first results may be worse.
        while true {
            let origins = [founder, joiner].map(\.state.sessionState.timeline.timeOrigin)
            let error = joiner.state.measurementErrorMicroseconds ?? .infinity
            if error < 1000, abs(origins[0].microseconds(to: origins[1])) < 1000 { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        founder.close()
        joiner.close()
    }

    @Test
    func `an edit shows at once at its own peer, and soon at the other`() async throws {
        let (founder, joiner, witnesses) = try await together()
        let seenWhenDone = Mutex<Tempo?>(nil)
        await withCheckedContinuation { done in
            joiner.edit { [tempo = tempo(97)] state, now in
                state.setTempo(tempo, at: now)
            } whenDone: {
                seenWhenDone.withLock { $0 = joiner.state.sessionState.tempo }
                done.resume()
            }
        }
        #expect(seenWhenDone.withLock { $0 } == tempo(97))
        try await witnesses.founder.see {
            $0.sessionState.tempo.microsecondsPerBeat == tempo(97).microsecondsPerBeat
        }
        founder.close()
        joiner.close()
    }

    @Test
    func `peers are listed, and a change has its author and its time of day`() async throws {
        let (founder, joiner, witnesses) = try await together()
        let reports = await founder.peers()
        let report = try #require(reports.first)
        #expect(reports.count == 1)
        #expect(report.session == founder.state.sessionID)
        #expect(report.address == .v4(127, 0, 0, 1))
        #expect(report.interfaces.map(\.name) == ["lo"])
        let joined = try #require(joiner.state.changes.first?.change)
        guard case .joined(founder.state.sessionID, tempo(80), _) = joined.what else {
            Issue.record("the joiner's first change is \(joined.what)")
            return
        }
        joiner.edit { [tempo = tempo(150)] in $0.setTempo(tempo, at: $1) }
        try await witnesses.founder.see { $0.changes.last?.change.origin.node == report.node }
        let dated = try #require(founder.state.changes.last)
        #expect(dated.change.what == .tempo(tempo(150)))
        #expect((0..<60_000).contains(millisecondsSince1970() - dated.millisecondsSince1970))
        founder.close()
        joiner.close()
        #expect(await founder.peers().isEmpty)
    }

    @Test
    func `play and stop travel both ways between peers that share them`() async throws {
        let (founder, joiner, witnesses) = try await together(sync: true)
        founder.edit { $0.setIsPlaying(true, at: $1) }
        try await witnesses.joiner.see { $0.sessionState.isPlaying }
        joiner.edit { $0.setIsPlaying(false, at: $1) }
        try await witnesses.founder.see { $0.sessionState.isPlaying }
        try await witnesses.founder.see { !$0.sessionState.isPlaying }
        founder.close()
        joiner.close()
    }

    @Test
    func `a peer that is disabled or closed leaves the session, and joins it when enabled again`() async throws {
        let (founder, joiner, witnesses) = try await together()
        joiner.setEnabled(false)
        try await witnesses.founder.see { $0.peerCount == 0 }
        try await witnesses.joiner.see { !$0.isEnabled && $0.interfaces.isEmpty }
        #expect(joiner.state.sessionState.tempo.microsecondsPerBeat == tempo(133).microsecondsPerBeat)
        joiner.setEnabled(true)
        try await witnesses.founder.see { $0.peerCount == 1 }
        joiner.close()
        try await witnesses.founder.see { $0.peerCount == 0 }
        founder.close()
    }

    @Test
    func `a closed peer leaves nobody waiting`() async throws {
        let peer = try LinkPeer(tempo: tempo(120), isEnabled: true) { _ in }
        peer.close()
        peer.close()
        await withCheckedContinuation { done in
            peer.edit { _, _ in
            } whenDone: {
                done.resume()
            }
        }
        #expect(!peer.state.isEnabled)
    }

    @Test
    func `if the requested interfaces do not exist, they are reported and loopback is still used`() async throws {
        let witness = Witness()
        let peer = try LinkPeer(
            tempo: tempo(120), isEnabled: true, interfaces: ["lo", "eth7"], onChange: witness.onChange)
        try await witness.see { $0.interfaces == ["127.0.0.1"] }
        #expect(peer.state.failures == ["eth7: it is not there, or has no IPv4 address"])
        peer.setEnabled(false)
        try await witness.see { !$0.isEnabled && $0.failures.isEmpty }
        peer.close()
    }

    @Test
    func `empty and malformed datagrams to the group are counted, and sockets keep receiving`() async throws {
        let witness = Witness()
        let peer = try LinkPeer(tempo: tempo(120), isEnabled: true, onChange: witness.onChange)
        try await witness.see { !$0.interfaces.isEmpty }
        let stranger = RawSocket()
        for target in [0x7f00_0001, Self.group] {
            stranger.send([], to: target, port: Self.port)
            for size in 1...100 {
                let garbage = [UInt8](repeating: UInt8(truncatingIfNeeded: size), count: size)
                stranger.send(garbage, to: target, port: Self.port)
            }
        }
        let alive = DiscoveryHeader(kind: .alive, timeToLive: 1, sender: NodeID(bits: 1)).encoded(with: nil)
        let (answer, asked) = stranger.ask(alive, to: Self.group, port: Self.port)
        #expect(answer?.count == 107)
        await withCheckedContinuation { done in peer.setStartStopSync(true, whenDone: { done.resume() }) }
        // Those sent straight to the port, which may come from any network, are not received.
        #expect(peer.state.refusedDatagrams == 101 + asked, "and each alive that says nothing")
        peer.close()
    }

    @Test
    func `pings are answered on the port that is announced`() async throws {
        let witness = Witness()
        let peer = try LinkPeer(tempo: tempo(120), isEnabled: true, onChange: witness.onChange)
        try await witness.see { !$0.interfaces.isEmpty }
        let stranger = RawSocket()
        let alive = DiscoveryHeader(kind: .alive, timeToLive: 1, sender: NodeID(bits: 1)).encoded(with: nil)
        let (answer, _) = stranger.ask(alive, to: Self.group, port: Self.port)
        let response = try DiscoveryDecoder(#require(answer))
        let endpoint = try #require(try response.announcement().measurementEndpoint)
        #expect(endpoint.address == .v4(127, 0, 0, 1))
        let ping = MeasurementMessage.ping(hostTime: .now())
        stranger.send(ping, port: endpoint.port)
        let echo = stranger.receive(withinMilliseconds: 60_000)
        guard case .pong(let pong) = try MeasurementMessage(#require(echo)) else {
            Issue.record("the answer to a ping is a ping")
            return
        }
        #expect(pong.session == peer.state.sessionID)
        #expect(pong.ghostTime.microseconds > 0)
        #expect(pong.hostTime <= .now())
        peer.close()
    }

    @Test
    func `a commit shows at once at its own peer, and soon at the other`() async throws {
        let (founder, joiner, witnesses) = try await together()
        var state = founder.capture()
        state.setTempo(tempo(97), at: .now())
        founder.commit(state)
        #expect(founder.capture().tempo == tempo(97))
        state = founder.capture()
        state.setTempo(tempo(98), at: .now())
        founder.commit(state)
        #expect(founder.capture().tempo == tempo(98))
        try await witnesses.joiner.see { $0.sessionState.tempo.microsecondsPerBeat == tempo(98).microsecondsPerBeat }
        try await witnesses.founder.see { $0.sessionState.tempo == tempo(98) }
        #expect(founder.capture().tempo == tempo(98))
        founder.close()
        joiner.close()
    }

    @Test
    func `a real-time thread sees only its own commits for a second, then others' too`() async throws {
        let (founder, joiner, witnesses) = try await together(sync: true)
        let realTime = founder.realTime
        var now = HostTime.now()
        var state = realTime.capture(at: now)
        #expect(state.tempo == tempo(133) && state.isConnected)
        // The network thread may see only the second of two commits, but neither may be lost.
        state.setTempo(tempo(90), at: now)
        realTime.commit(state, at: now)
        state = realTime.capture(at: now)
        #expect(state.tempo == tempo(90))
        state.setIsPlaying(true, at: now)
        realTime.commit(state, at: now)
        #expect(realTime.capture(at: now).isPlaying && realTime.capture(at: now).tempo == tempo(90))
        try await witnesses.joiner.see { $0.sessionState.isPlaying }
        #expect(joiner.state.sessionState.tempo.microsecondsPerBeat == tempo(90).microsecondsPerBeat)
        joiner.edit { [tempo = tempo(120)] in $0.setTempo(tempo, at: $1) }
        try await witnesses.founder.see { $0.sessionState.tempo == tempo(120) }
        #expect(realTime.capture(at: now).tempo == tempo(90))
        now = now.advanced(byMicroseconds: 1_000_001)
        #expect(realTime.capture(at: now).tempo == tempo(120))
        founder.close()
        joiner.close()
    }

    @Test
    func `an enabled peer that is not active stays off the network`() async throws {
        let witness = Witness()
        let peer = try LinkPeer(tempo: tempo(120), isEnabled: true, onChange: witness.onChange)
        try await witness.see { $0.isNetworking && !$0.interfaces.isEmpty }
        peer.setActive(false)
        try await witness.see { $0.isEnabled && !$0.isNetworking && $0.interfaces.isEmpty }
        peer.setEnabled(false)
        peer.setActive(true)
        try await witness.see { $0.isActive && !$0.isNetworking && $0.interfaces.isEmpty }
        peer.setEnabled(true)
        try await witness.see { $0.isNetworking && !$0.interfaces.isEmpty }
        peer.close()
    }

    @Test
    func `events tell what happened in order, to a callback and to every stream, until the end`() async throws {
        let told = Mutex<[LinkEvent]>([])
        let peer = try LinkPeer(tempo: tempo(120), onEvent: { event in told.withLock { $0.append(event) } })
        let streams = [peer.events, peer.events]
        var state = peer.capture()
        state.setTempo(tempo(90), at: .now())
        state.setIsPlaying(true, at: .now())
        peer.commit(state)
        peer.setStartStopSync(true)
        peer.setEnabled(true)
        peer.close()
        let expected: [LinkEvent] = [
            .tempoChanged(tempo(90)), .startStopChanged(isPlaying: true), .startStopSyncChanged(true),
            .enabledChanged(true), .enabledChanged(false),
        ]
        for stream in streams {
            var heard: [LinkEvent] = []
            for await event in stream { heard.append(event) }
            #expect(heard == expected)
        }
        #expect(told.withLock { $0 } == expected)
        var late = peer.events.makeAsyncIterator()
        #expect(await late.next() == nil)
    }
}
