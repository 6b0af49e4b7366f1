import Essentials
import GatewayStatus

/// A status as text for people.
enum StatusText {
    /// The whole status, the most important last: that is what a terminal still shows of many lines.
    ///
    /// - Parameters:
    ///   - status: of the gateway.
    ///   - width: the number of characters that fit in a line; nil for lines of any length.
    /// - Returns: facts, outputs, warnings, and who leads, with empty lines between.
    static func lines(_ status: Status, width: Int?) -> [String] {
        var facts: [(String, String)] = []
        if !status.link.interfaces.isEmpty {
            facts.append(("networks", status.link.interfaces.joined(separator: ", ")))
        }
        if let change = status.link.lastChange { facts.append(("changed", PeersText.text(change))) }
        facts.append(("follower", follower(status.follower)))
        facts += status.follower.refused.map { ("ignored", ignored($0)) }
        facts.append(("real time", realtime(status.realtime)))
        let table = OutputRows(status, width: width)
        let outputs = table.rows.isEmpty ? [noOutputs] : [table.heading] + table.rows.map(\.text)
        let warnings = status.warnings.flatMap { [("warning", $0.message), ("  fix", $0.fix)] }
        let leading = [
            ("link", link(status.link)), ("mode", "\(status.mode.rawValue) (\(status.reason))"),
            ("tempo", shownTempo(status)),
            ("beat", "\(reached(status.beat)), phase \(reached(status.phase)) of \(decimals(status.quantum))"),
            ("transport", transport(status)),
        ]
        func rows(_ rows: [(String, String)]) -> [String] {
            rows.flatMap { name, text in
                Line.wrapped(text, after: Line(name.padded(to: 11)), to: width ?? .max).map(\.text)
            }
        }
        let groups = [rows(facts), outputs, rows(warnings), rows(leading)]
        return Array(groups.filter { !$0.isEmpty }.joined(separator: [""]))
    }

    static let noOutputs = "no outputs; connect a device"

    /// One line for a terminal, at most `width` characters wide.
    static func live(_ status: Status, width: Int) -> String {
        let fields = [
            status.mode.rawValue, shownTempo(status, decimals: 2), "beat \(barAndBeat(status))",
            peers(status.link.peers), transport(status),
        ]
        return String(fields.joined(separator: "   ").prefix(max(width, 0)))
    }

    /// One line for a service manager, without anything that changes with every beat.
    static func service(_ status: Status) -> String {
        var parts = [
            status.mode.rawValue, shownTempo(status), peers(status.link.peers), status.transport.rawValue,
            counted(status.outputs.count { !$0.isAbsent }, "output"),
        ]
        if !status.warnings.isEmpty { parts.append(counted(status.warnings.count, "warning")) }
        return parts.joined(separator: ", ")
    }

    static func tempo(_ status: Status) -> String { decimals(status.tempo) }

    /// The tempo with its unit; that of a clock that leads only as exactly as it is known.
    ///
    /// - Parameters:
    ///   - status: of the gateway.
    ///   - wanted: always so many decimals, if the tempo is exact; nil for the fewest.
    /// - Returns: such as `124.0 BPM` or `about 124 BPM`.
    static func shownTempo(_ status: Status, decimals wanted: Int? = nil) -> String {
        if status.mode == .follow, let doubt = status.follower.tempoDoubt { return followed(status.tempo, doubt) }
        return "\(wanted.map { fixed(status.tempo, $0) } ?? decimals(status.tempo)) BPM"
    }

    /// A measured tempo that may be off by some BPM: `124.0 BPM` or `about 124 BPM`.
    private static func followed(_ tempo: Double, _ doubt: Double) -> String {
        doubt < 0.05 ? "\(fixed(tempo, 1)) BPM" : "about \(whole(tempo)) BPM"
    }

    /// How many taps agree and how many are wanted; nil if enough do.
    static func tap(_ status: Status) -> String? {
        status.taps.flatMap { $0.counted < $0.wanted ? "tap \($0.counted) of \($0.wanted)" : nil }
    }

    static func transport(_ status: Status) -> String {
        guard let beats = status.startsInBeats else { return status.transport.rawValue }
        return beats < 0.05 ? "starting" : "starts in \(fixed(beats, 1)) beats"
    }

    /// The position as `bar.beat`, counted from 1.1; in plain beats if the quantum is not a whole number of at least 1.
    ///
    /// Bars below 1 are the count-in.
    static func barAndBeat(_ status: Status) -> String {
        guard hasBars(status.quantum) else { return decimals(status.beat) }
        let bar = (status.beat / status.quantum).rounded(.down) + 1
        return "\(whole(bar)).\(whole(status.phase.rounded(.down) + 1))"
    }

    /// So many beats in bars, such as `4 bars`; a bar is one beat if the quantum is not a whole number of at least 1.
    static func bars(_ beats: Double, quantum: Double) -> String {
        let bars = hasBars(quantum) ? beats / quantum : beats
        return "\(decimals(bars)) bar\(bars == 1 ? "" : "s")"
    }

    private static func hasBars(_ quantum: Double) -> Bool { quantum >= 1 && quantum == quantum.rounded() }

    static func link(_ link: Status.Link) -> String {
        guard link.enabled else { return "off" }
        guard link.active else {
            return "on, but idle: it joins the network when an enabled output is connected or the song plays"
        }
        var parts = ["on", peers(link.peers), "start/stop sync \(link.startStopSync ? "on" : "off")"]
        if let session = link.sessionId { parts.append("session \(session)") }
        return parts.joined(separator: ", ")
    }

    static func follower(_ follower: Status.Follower) -> String {
        var parts = [follower.state.rawValue]
        if let source = follower.source { parts.append(source) }
        if let tempo = follower.tempo { parts.append(followed(tempo, follower.tempoDoubt ?? 0)) }
        if let jitter = follower.jitterMicroseconds { parts.append("jitter \(spokenDuration(jitter))") }
        if let coarse = follower.coarsenessMicroseconds, coarse >= 2_000 {
            parts.append("ticks up to \(fixed(coarse / 1_000, 1)) ms late")
        }
        if let seen = follower.seen { parts.append(seen) }
        return parts.joined(separator: ", ")
    }

    static func ignored(_ clock: Status.Follower.Refused) -> String {
        let messages = "\(counted(clock.ticks, "tick")), \(counted(clock.transport, "transport message"))"
        return "\(clock.name) (\(clock.port)): \(messages) (\(clock.reason))"
    }

    /// The output's `multiply`, `divide` and `swing`, as words; those at their defaults are left out.
    static func rateAndSwing(_ output: Status.Output) -> [String] {
        var parts: [String] = []
        if output.multiply != 1 { parts.append("times \(output.multiply)") }
        if output.divide != 1 { parts.append("divided by \(output.divide)") }
        if output.swing != 50 { parts.append("swing \(decimals(output.swing)) %") }
        return parts
    }

    /// How fast a sound card is, and how often it fell silent.
    static func soundCard(_ card: Status.SoundCard) -> String {
        let rate = card.partsPerMillion.map { ", \($0 < 0 ? "" : "+")\(fixed($0, 1)) ppm" } ?? ""
        let silent = card.underruns == 0 ? "" : ", fell silent \(card.underruns) times"
        return "\(card.sampleRate) Hz\(rate)\(card.ownClock ? "" : ", not by its own clock")\(silent)"
    }

    static func realtime(_ realtime: Status.Realtime) -> String {
        let priority =
            switch realtime.scheduling {
            case "fifo": "fifo \(realtime.priority) by limits"
            case "rr": "rr \(realtime.priority) by rtkit"
            default: "no"
            }
        let memory = "memory \(realtime.memoryLocked ? "locked" : "not locked")"
        var parts = [priority, memory, "dispatch \(realtime.dispatch)"]
        if let latency = realtime.wakeUpLatencyMicroseconds {
            let (most, worst) = (spokenDuration(latency.p99), spokenDuration(latency.max))
            parts.append("wakes up at most \(most) late (99 %), \(worst) at worst")
        }
        return parts.joined(separator: ", ")
    }

    static func peers(_ count: Int) -> String { counted(count, "peer") }

    static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// At most two decimals, without trailing zeros.
    static func decimals(_ value: Double) -> String { shortest(value, atMost: 2) }

    /// A position, rounded down: what is to come has not been reached.
    private static func reached(_ beats: Double) -> String { decimals((beats * 100).rounded(.down) / 100) }

    private static func whole(_ value: Double) -> String { fixed(value, 0) }
}

extension String {
    /// This text, padded with spaces to `width` characters.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    /// This text with spaces instead of control characters, so that a device's name cannot control a terminal.
    var withoutControls: String {
        var clean = String.UnicodeScalarView()
        for scalar in unicodeScalars { clean.append(scalar.properties.generalCategory == .control ? " " : scalar) }
        return String(clean)
    }
}
