import BeatTime
import LinkNetwork
import LinkSession
import RealTime

/// A metronome that is in time with every Link program of the network: one line on the screen, and a few keys.
@main
struct Metronome {
    private let peer: LinkPeer
    private var quantum = Beats(4)

    static func main() {
        var tempo = 120.0
        var isTracing = false
        var words = CommandLine.arguments.dropFirst()
        while let word = words.popFirst() {
            switch word {
            case "--tempo":
                guard let number = words.popFirst().flatMap({ Double($0) }), Tempo.allowed.contains(number) else {
                    return Terminal.fail("metronome: --tempo wants beats per minute, 20 to 999")
                }
                tempo = number
            case "--trace": isTracing = true
            default: return Terminal.fail(usage)
            }
        }
        do {
            let peer = try LinkPeer(tempo: Tempo(beatsPerMinute: tempo))
            var metronome = Metronome(peer: peer)
            metronome.run(isTracing: isTracing)
            peer.close()
        } catch {
            Terminal.fail("metronome: \(error)")
        }
    }

    private static let usage = """
        usage: metronome [--tempo BPM] [--trace]
        --trace prints a line of numbers ten times a second, for programs: host time in microseconds, beat,
        phase, tempo, quantum, peers, and 0 or 1 for enabled, playing and sync
        """

    private static let keys = "a Link   space play   w/e tempo   r/t quantum   s start/stop sync   q quit\n"

    /// Shows the beat until `q` is pressed, or the keyboard is gone.
    private mutating func run(isTracing: Bool) {
        let terminal = Terminal()
        if !isTracing { terminal.show(Self.keys) }
        while true {
            terminal.show(isTracing ? trace(at: .now()) + "\n" : "\r" + line(at: .now()))
            guard let keys = terminal.keys(withinMilliseconds: isTracing ? 100 : 20) else { break }
            for key in keys where !press(key) {
                if !isTracing { terminal.show("\n") }
                return
            }
        }
    }

    /// Does what a key asks for; false if that is to quit.
    private mutating func press(_ key: Character) -> Bool {
        switch key {
        case "a": peer.setEnabled(!peer.state.isEnabled)
        case "s": peer.setStartStopSync(!peer.state.isStartStopSyncEnabled)
        case "r": quantum = max(Beats(1), quantum - Beats(1))
        case "t": quantum = min(Beats(16), quantum + Beats(1))
        case "w": changeTempo(by: -1)
        case "e": changeTempo(by: 1)
        case " ": playOrStop()
        case "q": return false
        default: break
        }
        return true
    }

    private func changeTempo(by beatsPerMinute: Double) {
        var state = peer.capture()
        state.setTempo(Tempo(beatsPerMinute: state.tempo.beatsPerMinute + beatsPerMinute), at: .now())
        peer.commit(state)
    }

    /// Playing begins with beat 0, on the next boundary of the quantum if there are peers.
    private func playOrStop() {
        var state = peer.capture()
        state.setIsPlaying(!state.isPlaying, at: .now(), requesting: .zero, quantum: quantum)
        peer.commit(state)
    }

    private func line(at now: HostTime) -> String {
        let (state, session) = (peer.state, peer.capture())
        let beat = session.beat(at: now, quantum: quantum)
        let phase = Int(session.phase(at: now, quantum: quantum).value)
        return [
            "Link \(state.isEnabled ? "on " : "off")", "\(state.peerCount) peers", "quantum \(Int(quantum.value))",
            "sync \(state.isStartStopSyncEnabled ? "on " : "off")", session.isPlaying ? "playing" : "stopped",
            "\(hundredths(session.tempo.beatsPerMinute)) BPM", "beat \(hundredths(beat.value))",
            session.isPlaying ? lamps(beat < .zero ? 0 : phase + 1) : "",
        ].joined(separator: " | ") + "      "
    }

    /// One lamp for each beat of the quantum, lit up to the present one; all dark while its boundary is waited for.
    private func lamps(_ lit: Int) -> String {
        (1...Int(quantum.value)).map { $0 <= lit ? "●" : "·" }.joined()
    }

    private func trace(at now: HostTime) -> String {
        let (state, session) = (peer.state, peer.capture())
        let flags = [state.isEnabled, session.isPlaying, state.isStartStopSyncEnabled].map { $0 ? "1" : "0" }
        let numbers = [
            "\(now.microseconds)", "\(session.beat(at: now, quantum: quantum).value)",
            "\(session.phase(at: now, quantum: quantum).value)", "\(session.tempo.beatsPerMinute)",
            "\(quantum.value)", "\(state.peerCount)",
        ]
        return (numbers + flags).joined(separator: " ")
    }

    /// A number with two digits after the point.
    private func hundredths(_ number: Double) -> String {
        let (whole, part) = Int((abs(number) * 100).rounded()).quotientAndRemainder(dividingBy: 100)
        return (number < 0 ? "-" : "") + "\(whole)." + (part < 10 ? "0" : "") + "\(part)"
    }
}
