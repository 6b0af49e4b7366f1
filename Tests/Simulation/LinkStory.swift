internal import BeatTime
internal import LinkSession

/// Runs one Link engine through the events that a script's bytes describe.
///
/// The fuzzer uses it, and tests of what the fuzzer has found. One byte chooses the next event, the following bytes its
/// details. Besides random bytes, there are peers that send valid messages and answer pings, so that the engine joins
/// sessions and follows clocks.
package struct LinkStory {
    private var script: ArraySlice<UInt8>
    private var engine: Engine
    private var now = HostTime(microseconds: 1_000_000_000)
    private let interfaces: [IPAddress] = [.v4(127, 0, 0, 1), .v6(high: 0xfe80 << 48, low: 1)]
    /// The last datagrams sent.
    ///
    /// A script can send them back, because it could not guess the engine's node ID.
    private var sent: [[UInt8]] = []
    /// The last ping sent.
    private var ping: Datagram?
    /// Pings to peers that answer, in the order they were sent.
    private var pings: [Datagram] = []
    /// How far the clocks of sessions are ahead of ours, in microseconds; peers of other sessions do not answer pings.
    private var clocks: [UInt16: Int64] = [:]
    /// Whether the engine has ever joined another peer's session.
    package private(set) var hasJoined = false
    /// Broken promises: rules that must always hold, but did not.
    package private(set) var broken: [String] = []

    package init(_ script: [UInt8]) {
        self.script = script[...]
        engine = Engine(tempo: Tempo(beatsPerMinute: 120), seed: 1, at: now)
        perform(engine.setEnabled(true, at: now))
        for interface in interfaces { appear(interface) }
    }

    /// Runs the whole script.
    package mutating func happen() {
        while let deed = script.popFirst() {
            switch deed {
            case 0..<64: hear(Array(take(Int(next()) + (deed & 1 == 0 ? 0 : 256))), deed)
            case 64..<96: announce(deed)
            case 96..<144: hear(echo(), deed)
            case 144..<160: answerPings()
            case 160..<200: pass(milliseconds: Int64(next()) * 10)
            case 200..<220: edit()
            case 220..<226: engine.setStartStopSync(deed & 1 == 0)
            case 226..<232: perform(engine.interfaceVanished(interfaces[Int(deed & 1)], at: now))
            case 232..<240: appear(interfaces[Int(deed & 1)])
            case 240..<244: perform(engine.resumed(at: now))
            case 244..<248: clocks[UInt16(deed & 3)] = nil
            default: perform(engine.setEnabled(deed & 3 != 0, at: now))
            }
            answerAsPeers()
            check()
        }
    }

    private mutating func next() -> UInt8 { script.popFirst() ?? 0 }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        defer { script = script.dropFirst(count) }
        return script.prefix(count)
    }

    /// Reads a number of any size and sign from the script.
    private mutating func number() -> Int64 {
        let bits = take(8).reduce(0) { $0 << 8 | UInt64($1) }
        return Int64(bitPattern: bits) >> Int64(next() & 63)
    }

    private mutating func hear(_ bytes: [UInt8], _ deed: UInt8) {
        hear(bytes, on: interfaces[Int(deed >> 1 & 1)], deed & 4 == 0 ? .discovery : .measurement)
    }

    private mutating func hear(_ bytes: [UInt8], on interface: IPAddress, _ channel: Channel) {
        let source = Endpoint(address: interface, port: 4001)
        perform(engine.received(bytes, from: source, on: interface, channel: channel, at: now))
    }

    /// One of a few peers announces itself in one of a few sessions, with numbers from the script.
    private mutating func announce(_ deed: UInt8) {
        let interface = interfaces[Int(deed & 1)]
        let header = DiscoveryHeader(
            kind: deed & 2 == 0 ? .alive : .response, timeToLive: next(), sender: NodeID(bits: UInt64(next() & 7)))
        let session = UInt16(next() & 3)
        if clocks[session] == nil { clocks[session] = number() }
        let announcement = Announcement(
            session: NodeID(bits: UInt64(session)),
            timeline: GhostTimeline(
                tempo: Tempo(microsecondsPerBeat: number()), beatOrigin: Beats(microbeats: number()),
                timeOrigin: GhostTime(microseconds: number())),
            startStop: StartStopState(
                isPlaying: deed & 4 == 0, beats: Beats(microbeats: number()),
                timestamp: GhostTime(microseconds: number())),
            measurementEndpoint: Endpoint(address: interface, port: Self.firstPort + session))
        hear(header.encoded(with: announcement), on: interface, .discovery)
    }

    private static let firstPort: UInt16 = 5000
    /// Most pongs that peers send after one event.
    ///
    /// A measurement takes 51; the limit makes every story end.
    private static let pongLimit = 120

    /// Lets the peers answer the engine's pings until there are none, or up to the limit.
    private mutating func answerAsPeers() {
        for _ in 0..<Self.pongLimit {
            guard !pings.isEmpty else { return }
            let ping = pings.removeFirst()
            guard case .peer(let target) = ping.destination, let ahead = clocks[target.port &- Self.firstPort] else {
                continue
            }
            now = now.advanced(byMicroseconds: 100)
            let ghost = GhostTime(microseconds: now.microseconds &+ ahead)
            let session = NodeID(bits: UInt64(target.port &- Self.firstPort))
            now = now.advanced(byMicroseconds: 100)
            let pong = MeasurementMessage.pong(session: session, ghostTime: ghost, echoing: ping.bytes[9...])
            perform(engine.received(pong, from: target, on: ping.interface, channel: .measurement, at: now))
        }
        pings = []
    }

    /// Answers the newest ping several times, with a session and a clock from the script.
    private mutating func answerPings() {
        let (session, ahead) = (NodeID(bits: UInt64(next() & 3)), number())
        for _ in 0..<next() {
            guard let ping else { return }
            now = now.advanced(byMicroseconds: Int64(next()))
            let ghost = GhostTime(microseconds: now.microseconds &+ ahead)
            let pong = MeasurementMessage.pong(session: session, ghostTime: ghost, echoing: ping.bytes[9...])
            hear(pong, on: ping.interface, .measurement)
        }
    }

    /// A datagram that the engine has sent, with a few bytes changed.
    private mutating func echo() -> [UInt8] {
        guard !sent.isEmpty else { return [] }
        var bytes = sent[Int(next()) % sent.count]
        for _ in 0..<Int(next() & 15) where !bytes.isEmpty { bytes[Int(next()) % bytes.count] = next() }
        return bytes
    }

    private mutating func edit() {
        let number = Double(Int(next()) - 128)
        let before = engine.sessionState
        do throws(EditRefusal) {
            perform(
                try engine.edit(at: now) { state in
                    state.setTempo(Tempo(beatsPerMinute: number * 8), at: now)
                    state.requestBeat(Beats(number), at: now, quantum: Beats(abs(number) / 16))
                    state.forceBeat(Beats(number * 1e6), at: now, quantum: Beats(4))
                    state.setIsPlaying(number > 0, at: now)
                })
        } catch {
            if engine.sessionState != before { broken.append("of a refused edit, nothing is made") }
        }
    }

    private mutating func pass(milliseconds: Int64) {
        let end = now.advanced(byMicroseconds: milliseconds * 1000)
        while let deadline = engine.nextDeadline, deadline <= end {
            now = max(now, deadline)
            perform(engine.timePassed(to: now))
        }
        now = end
    }

    private mutating func appear(_ interface: IPAddress) {
        let endpoint = Endpoint(address: interface, port: 4000)
        perform(engine.interfaceAppeared(interface, measurementEndpoint: endpoint, at: now))
    }

    private mutating func perform(_ datagrams: [Datagram]) {
        for datagram in datagrams {
            if datagram.bytes.count >= 512 { broken.append("a message is too long for others") }
            if datagram.channel == .measurement, datagram.bytes[8] == 1 {
                ping = datagram
                if pings.count < 64 { pings.append(datagram) }
            }
            if sent.count < 64 {
                sent.append(datagram.bytes)
            } else {
                sent[Int(now.microseconds % 64)] = datagram.bytes
            }
        }
    }

    private mutating func check() {
        func expect(_ isKept: Bool, _ promise: String) {
            if !isKept { broken.append(promise) }
        }
        let timeline = engine.sessionState.timeline
        expect(Tempo.allowed.contains(timeline.tempo.beatsPerMinute), "the tempo is in range")
        expect(abs(timeline.beatOrigin.microbeats) <= 1 << 53, "beats can be counted")
        expect(abs(timeline.timeOrigin.microseconds) <= 1 << 53, "times can be told")
        expect(engine.measurementErrorMicroseconds(at: now)?.isFinite != false, "the error of the clock is a number")
        expect(engine.peerCount >= 0 && engine.peerCount <= 1024, "peers are bounded")
        if engine.sessionID != engine.nodeID { hasJoined = true }
    }
}
