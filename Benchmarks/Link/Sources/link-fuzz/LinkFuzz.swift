import BeatTime
import CFuzzer
import LinkSession

/// Has the compiler's fuzzer look for datagrams that trap the Link engine, or have it break its promises.
///
/// An input is a script: a byte says what happens next, more say the rest. Arguments are the fuzzer's own, such as
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

    init(_ script: [UInt8]) {
        self.script = script[...]
        engine = Engine(tempo: Tempo(beatsPerMinute: 120), seed: 1, at: now)
        perform(engine.setEnabled(true, at: now))
        for interface in interfaces { appear(interface) }
    }

    mutating func happen() {
        while let deed = script.popFirst() {
            switch deed {
            case 0..<96: hear(Array(take(Int(next()) + (deed & 1 == 0 ? 0 : 256))), deed)
            case 96..<160: hear(echo(), deed)
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

    private mutating func hear(_ bytes: [UInt8], _ deed: UInt8) {
        let source = Endpoint(address: interfaces[Int(deed >> 1 & 1)], port: UInt16(deed))
        perform(
            engine.received(
                bytes, from: source, on: interfaces[Int(deed >> 1 & 1)],
                channel: deed & 4 == 0 ? .discovery : .measurement, at: now))
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

    private mutating func perform(_ effects: [Effect]) {
        for case .send(let datagram) in effects {
            precondition(datagram.bytes.count < 512, "no message is too long for others")
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
        precondition(engine.peerCount >= 0 && engine.peerCount <= 1024, "peers are bounded")
    }
}
