import Essentials
import Listening
import SoundCalibration

/// The texts of a calibration by listening.
enum ListeningText {
    /// What the user must do before and during the measurement.
    static let instructions = [
        "Set the machine to play one short, dry sound on every beat and nothing else, and to follow MIDI clock.",
        "It takes about 80 beats. Do not touch tempo or transport meanwhile. Ctrl-C ends it and restores everything.",
    ]

    /// What to do once the level is right.
    static let question = "Set the level to -30 to -6 dB, then press Enter."

    /// The progress, for a terminal.
    static func lines(_ report: ListeningReport) -> [Line] {
        var lines = report.level.map { [row("level", meter($0))] } ?? []
        if let other = report.otherLevel { lines.append(row("compared", meter(other))) }
        guard report.state != .level else { return lines + [Line(question, .strong)] }
        let newest =
            report.newestDelayMicroseconds.map {
                ", the newest \(spokenDuration(abs($0))) \(side(ofDelay: $0))"
            } ?? ""
        lines.append(
            row(
                "beats",
                Line("\(report.beats) of \(max(report.beats, report.beatsNeeded)), \(report.hits) hits\(newest)")))
        lines.append(row("now", Line(step(report.state))))
        return lines
    }

    static func step(_ state: ListeningReport.State) -> String {
        switch state {
        case .opening: "opening the sound card"
        case .level: "showing the level"
        case .waiting: "waiting for the start of a bar"
        case .measuring: "listening, with the clock left alone"
        case .checking: "checking that the sound follows: the clock is moved a little back and forth"
        case .restoring: "putting the clock back"
        case .done, .failed: ""
        }
    }

    private static func row(_ name: String, _ text: Line) -> Line { Line(name.padded(to: 12), .faint) + text }

    /// A level meter: 60 dB in 30 characters.
    private static func meter(_ level: ListeningReport.Level) -> Line {
        guard let decibels = level.decibels else { return Line("silence", .caution) }
        let isClipped = level.clipped > 0
        let filled = Int(min(max((decibels + 60) / 2, 0), 30))
        let tone: Tone = isClipped ? .bad : filled < 5 ? .caution : .good
        return Line(String(repeating: "█", count: filled), tone)
            + Line(String(repeating: "░", count: 30 - filled) + " \(fixed(decibels, 0)) dB", .faint)
            + Line(isClipped ? "  clips: turn it down" : "", .bad)
    }

    /// The result as text.
    ///
    /// - Parameters:
    ///   - result: the figures.
    ///   - name: of the machine.
    ///   - isLatencyKnown: whether the sound card's own latency was given.
    /// - Returns: one line each.
    static func lines(_ result: ListeningFigures, of name: String, isLatencyKnown: Bool) -> [String] {
        let behind =
            switch result.reference {
            case .beat: "the beat as this machine sends it"
            case .machine: "what is on the other channel"
            case .ownClock: "its own clock on the other channel"
            }
        let latency =
            "this includes the sound card's own latency; measure that once (docs/calibrating.md) and give it as "
            + "--input-latency, or use --against"
        return [
            "\(name): sounds \(spokenDuration(abs(result.delayMicroseconds))) \(result.delayMicroseconds < 0 ? "before" : "after") \(behind), "
                + "give or take \(spokenDuration(result.uncertaintyMicroseconds))",
            "its own spread: \(spokenDuration(result.spreadMicroseconds)), drift "
                + "\(spokenDuration(result.driftMicrosecondsPerMinute)) a minute; \(result.verdict)",
            "hits: \(result.used) used, \(result.rejected) rejected",
            "checked: when the clock moved, the sound followed by \(fixed(100 * result.response, 0)) %",
            "delays: \(histogram(result))",
            "with an offset of \(fixed(result.offsetMilliseconds, 2)) ms it sounds "
                + "\(result.reference == .machine ? "together with that" : "on the beat")",
        ] + (result.reference == .beat && !isLatencyKnown ? [latency] : [])
    }

    /// The result as JSON: the figures, and what was saved.
    struct Found: Encodable {
        var figures: ListeningFigures
        var saved: ListeningReport.Saved?

        private enum CodingKeys: CodingKey { case saved }

        func encode(to encoder: any Encoder) throws {
            try figures.encode(to: encoder)
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encodeIfPresent(saved, forKey: .saved)
        }
    }

    /// The path of the profile that a result was saved in, on the gateway's machine.
    ///
    /// - Throws: why there is none.
    static func profile(of saved: ListeningReport.Saved) throws(Failure) -> String {
        if let profile = saved.profile { return profile }
        let why = saved.problem ?? "the gateway does not say why"
        throw Failure(
            .system,
            "the offset is set to \(fixed(saved.offsetMilliseconds, 2)) ms, and the gateway keeps it, but no profile was "
                + "written: \(why)")
    }

    /// A bar chart of the delays, from the earliest to the latest.
    private static func histogram(_ result: ListeningFigures) -> String {
        let delays = result.hits.map(\.microseconds)
        guard let first = delays.min(), let last = delays.max(), last > first else { return "-" }
        var counts = [Int](repeating: 0, count: 16)
        for delay in delays { counts[min(15, Int(16 * (delay - first) / (last - first)))] += 1 }
        let (most, blocks) = (counts.max() ?? 1, Array(" ▁▂▃▄▅▆▇█"))
        let shape = counts.map { blocks[$0 == 0 ? 0 : max(1, 8 * $0 / most)] }
        return "\(spokenDuration(first)) [\(String(shape))] \(spokenDuration(last))"
    }
}
