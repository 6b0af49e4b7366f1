import BeatTime
import CFuzzer
import LinkSession

/// Has the compiler's fuzzer look for datagrams that trap the Link engine, or have it break its promises.
///
/// An input is a script: a byte says what happens next, more say the rest. Besides bytes by chance there are peers that
/// send sound messages, so that sessions are joined and clocks are followed. Arguments are the fuzzer's own, such as
/// `-runs=10000000` and a folder that keeps the inputs that led somewhere new.
@main
struct LinkFuzz {
    static func main() {
        var count = CommandLine.argc
        var words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        _ = LLVMFuzzerRunDriver(&count, &words) { bytes, count in
            var story = Story(Array(UnsafeBufferPointer(start: bytes, count: count)))
            story.happen()
            return 0
        }
    }
}

/// What happens to one engine.
private struct Story {
    private var script: ArraySlice<UInt8>
    private var engine: Engine
    private var now = HostTime(microseconds: 1_000_000_000)
    private let interfaces: [IPAddress] = [.v4(127, 0, 0, 1), .v6(high: 0xfe80 << 48, low: 1)]
    /// The last datagrams sent, which a script can have echoed: nobody guesses a node ID.
    private var sent: [[UInt8]] = []
    /// The last ping sent.
    private var ping: Datagram?

    init(_ script: [UInt8]) {
        self.script = script[...]
        engine = Engine(tempo: Tempo(beatsPerMinute: 120), seed: 1, at: now)
        perform(engine.setEnabled(true, at: now))
        for interface in interfaces { appear(interface) }
    }

    mutating func happen() {
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
            default: perform(engine.setEnabled(deed & 3 != 0, at: now))
            }
            check()
        }
    }

    private mutating func next() -> UInt8 { script.popFirst() ?? 0 }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        defer { script = script.dropFirst(count) }
        return script.prefix(count)
    }

    /// A number of any size and sign.
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

    /// One of a few peers announces itself in one of a few sessions, with numbers as wild as the script says.
    private mutating func announce(_ deed: UInt8) {
        let interface = interfaces[Int(deed & 1)]
        let header = DiscoveryHeader(
            kind: deed & 2 == 0 ? .alive : .response, timeToLive: next(), sender: NodeID(bits: UInt64(next() & 7)))
        let announcement = Announcement(
            session: NodeID(bits: UInt64(next() & 3)),
            timeline: GhostTimeline(
                tempo: Tempo(microsecondsPerBeat: number()), beatOrigin: Beats(microbeats: number()),
                timeOrigin: GhostTime(microseconds: number())),
            startStop: StartStopState(
                isPlaying: deed & 4 == 0, beats: Beats(microbeats: number()),
                timestamp: GhostTime(microseconds: number())),
            measurementEndpoint: Endpoint(address: interface, port: 4001))
        hear(header.encoded(with: announcement), on: interface, .discovery)
    }

    /// Somebody answers the newest ping over and over, for a session and with a clock of the script's choice.
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

    /// Something the engine said itself, a few bytes altered: as another peer would say it.
    private mutating func echo() -> [UInt8] {
        guard !sent.isEmpty else { return [] }
        var bytes = sent[Int(next()) % sent.count]
        for _ in 0..<Int(next() & 15) where !bytes.isEmpty { bytes[Int(next()) % bytes.count] = next() }
        return bytes
    }

    private mutating func edit() {
        let number = Double(Int(next()) - 128)
        perform(
            engine.edit(at: now) { state in
                state.setTempo(Tempo(beatsPerMinute: number * 8), at: now)
                state.requestBeat(Beats(number), at: now, quantum: Beats(abs(number) / 16))
                state.forceBeat(Beats(number * 1e6), at: now, quantum: Beats(4))
                state.setIsPlaying(number > 0, at: now)
            })
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
            precondition(datagram.bytes.count < 512, "no message is too long for others")
            if datagram.channel == .measurement, datagram.bytes[8] == 1 { ping = datagram }
            if sent.count < 64 {
                sent.append(datagram.bytes)
            } else {
                sent[Int(now.microseconds % 64)] = datagram.bytes
            }
        }
    }

    private func check() {
        let timeline = engine.sessionState.timeline
        precondition(Tempo.allowed.contains(timeline.tempo.beatsPerMinute), "the tempo is in range")
        precondition(abs(timeline.beatOrigin.microbeats) <= 1 << 53, "beats can be counted")
        precondition(abs(timeline.timeOrigin.microseconds) <= 1 << 53, "times can be told")
        precondition(engine.measurementErrorMicroseconds?.isFinite != false, "the error of the clock is a number")
        precondition(engine.peerCount >= 0 && engine.peerCount <= 1024, "peers are bounded")
    }
}
