import ClockMeter
import Essentials

/// A clock's figures as text.
enum MonitorText {
    /// One figure: its name and its value.
    struct Row: Hashable {
        var name: String
        var text: String
        var tone = Tone.plain
    }

    /// All figures, in rows.
    static func rows(_ figures: ClockFigures) -> [Row] {
        var rows = [tempo(figures.tempo)]
        if let drift = figures.tempo?.drift { rows.append(Row(name: "drift", text: text(drift))) }
        rows += jitter(figures)
        rows.append(ticks(figures.ticks))
        if figures.silences.count > 0 {
            let longest = "longest \(fixed(figures.silences.longestSeconds, 2)) s"
            rows.append(Row(name: "silences", text: "\(figures.silences.count), \(longest)", tone: .caution))
        }
        if figures.ticks.overflows > 0 {
            let text = "this machine could not keep up \(times(figures.ticks.overflows)) and may have lost ticks itself"
            rows.append(Row(name: "overflows", text: text, tone: .bad))
        }
        rows.append(transport(figures.transport))
        return rows
    }

    /// The lines of the live view.
    ///
    /// - Parameters:
    ///   - figures: the figures so far.
    ///   - name: the clock's name.
    ///   - hint: what the user can do, or should know; empty if there is nothing.
    /// - Returns: its lines.
    static func view(_ figures: ClockFigures, of name: String, hint: String) -> [Line] {
        var lines = [
            Line(name, .strong) + Line("   ") + state(figures.state) + Line("   \(clock(figures.seconds))", .faint)
        ]
        lines += rows(figures).map { Line($0.name.padded(to: 12), .faint) + Line($0.text, $0.tone) }
        lines += figures.transport.newest.suffix(4).map { Line("".padded(to: 12)) + Line(message($0)) }
        lines.append(Line("errors".padded(to: 12), .faint) + Line(histogram(figures.histogram)))
        if !hint.isEmpty { lines.append(Line(hint, .faint)) }
        return lines
    }

    /// One line for output that is not a terminal, where nothing can be redrawn.
    static func line(_ figures: ClockFigures) -> String {
        var parts = ["\(fixed(figures.seconds, 1)) s", figures.state.rawValue]
        if let tempo = figures.tempo { parts.append("\(fixed(tempo.beatsPerMinute, 3)) BPM") }
        if let error = figures.jitter?.timeIntervalErrorMicroseconds {
            parts.append("jitter \(spokenDuration(error.deviation)), 99 % within \(spokenDuration(error.p99))")
        }
        parts.append(ticks(figures.ticks).text)
        return parts.joined(separator: "  ")
    }

    /// The text that is shown when the measurement has ended.
    static func result(_ report: MonitorReport) -> [String] {
        let figures = report.figures
        return ["\(report.name), \(fixed(figures.seconds, 1)) s, \(figures.state.rawValue)".withoutControls]
            + report.rows.map { $0.name.padded(to: 12) + $0.text }
            + figures.transport.newest.map { "".padded(to: 12) + message($0) }
    }

    static func message(_ message: ClockFigures.Message) -> String {
        let position = message.position.map { " \($0)" } ?? ""
        return "\(fixed(message.second, 3)) s  \(message.kind.rawValue)\(position)"
    }

    /// More facts about a recording or a sound card's input.
    static func rows(_ sound: SoundFigures) -> [Row] {
        var rows = [Row(name: "level", text: level(sound))]
        if sound.clipped > 0 {
            let text = "\(sound.kind == .midi ? "yes" : times(sound.clipped)); record at a lower level"
            rows.append(Row(name: "clipped", text: text, tone: .caution))
        }
        if sound.unreadable > 0 {
            let text = "\(times(sound.unreadable)) there was a signal that is not a MIDI byte"
            rows.append(Row(name: "unreadable", text: text, tone: .caution))
        }
        if let other = sound.against { rows.append(Row(name: "difference", text: text(sound, other))) }
        return rows
    }

    /// How often, in words.
    static func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }

    private static func level(_ sound: SoundFigures) -> String {
        sound.peakDecibels.map { "loudest \(fixed($0, 1)) dB of full scale" } ?? "silence"
    }

    private static func text(_ sound: SoundFigures, _ other: SoundFigures.Against) -> String {
        guard let found = other.difference else {
            return "no sound on channel \(other.channel) is within half an interval of one on channel \(sound.channel)"
        }
        let side = found.medianMicroseconds < 0 ? "before" : "after"
        let range = "\(spokenDuration(found.leastMicroseconds)) to \(spokenDuration(found.greatestMicroseconds))"
        return "channel \(sound.channel) comes \(spokenDuration(abs(found.medianMicroseconds))) \(side) channel "
            + "\(other.channel), deviation \(spokenDuration(found.deviationMicroseconds)), \(range), growing by "
            + "\(spokenDuration(found.growthMicrosecondsPerMinute)) a minute; \(found.matched) compared, \(found.unmatched) not"
    }

    private static func state(_ state: ClockFigures.State) -> Line {
        switch state {
        case .waiting: Line("waiting for a clock", .faint)
        case .settling: Line("settling", .caution)
        case .locked: Line("locked", .good)
        case .lost: Line("lost", .bad)
        }
    }

    private static func tempo(_ tempo: ClockFigures.Tempo?) -> Row {
        guard let tempo else { return Row(name: "tempo", text: "-") }
        var text = "\(fixed(tempo.beatsPerMinute, 3)) BPM, deviation \(fixed(tempo.deviation, 4))"
        if tempo.changes > 0 {
            let range = "\(fixed(tempo.slowest, 2)) to \(fixed(tempo.fastest, 2))"
            text += ", was \(range) in \(tempo.changes) \(tempo.changes == 1 ? "change" : "changes")"
        }
        return Row(name: "tempo", text: text)
    }

    private static func text(_ drift: ClockFigures.Drift) -> String {
        let off = fixed(drift.partsPerMillion, 1, isSigned: true)
        return "\(off) ppm from \(StatusText.decimals(drift.nominalTempo)) BPM, deviation \(fixed(drift.deviation, 1))"
    }

    private static func jitter(_ figures: ClockFigures) -> [Row] {
        guard let jitter = figures.jitter else { return [Row(name: "jitter", text: "-")] }
        let (error, interval) = (jitter.timeIntervalErrorMicroseconds, jitter.intervalMicroseconds)
        let change = jitter.cycleToCycleMicroseconds
        let within = "half within \(spokenDuration(error.p50)), 99 % within \(spokenDuration(error.p99)), all within "
        return [
            Row(
                name: "jitter",
                text: "deviation \(spokenDuration(error.deviation)), \(within)\(spokenDuration(error.max)), "
                    + "of \(figures.ticks.measured) ticks"),
            Row(
                name: "intervals",
                text: "\(fixed(interval.mean / 1_000, 3)) ms, deviation \(spokenDuration(interval.deviation)), "
                    + "\(fixed(interval.shortest / 1_000, 2)) to \(fixed(interval.longest / 1_000, 2)) ms"),
            Row(name: "one to next", text: "rms \(spokenDuration(change.rms)), \(spokenDuration(change.max)) at most"),
        ]
    }

    private static func ticks(_ ticks: ClockFigures.Ticks) -> Row {
        var text = "\(ticks.received) ticks, \(ticks.lost) lost, \(ticks.doubled) doubled"
        if ticks.refused > 0 { text += ", \(ticks.refused) refused" }
        return Row(name: "ticks", text: text, tone: ticks.lost + ticks.doubled > 0 ? .caution : .plain)
    }

    private static func transport(_ transport: ClockFigures.Transport) -> Row {
        var text = transport.motion.rawValue
        if let beat = transport.songBeat { text += ", beat \(Int(beat.rounded(.down))) of the song" }
        return Row(name: "transport", text: text)
    }

    /// A bar chart of the errors, from the earliest to the latest.
    private static func histogram(_ bins: [ClockFigures.Bin]) -> String {
        guard let first = bins.first, let last = bins.last, let most = bins.map(\.ticks).max(), most > 0 else {
            return "-"
        }
        let blocks = Array(" ▁▂▃▄▅▆▇█")
        let shape = bins.map { bin in
            // Every value above 0 gets at least the smallest bar.
            blocks[bin.ticks == 0 ? 0 : max(1, Int((8 * Double(bin.ticks) / Double(most)).rounded()))]
        }
        let ends = (spokenDuration(first.fromMicroseconds), spokenDuration(last.fromMicroseconds + last.microseconds))
        return "\(ends.0) [\(String(shape))] \(ends.1)"
    }

    private static func clock(_ seconds: Double) -> String {
        let whole = Int(max(0, min(seconds, 1e9)))
        return "\(whole / 3_600):\(digits(whole / 60 % 60, 2)):\(digits(whole % 60, 2))"
    }

    /// Microseconds with a sign, in us or ms, without superfluous decimals.
    static func signed(_ microseconds: Double) -> String {
        guard abs(microseconds) > 1e-9 else { return "0" }
        let (value, unit) = abs(microseconds) < 1_000 ? (microseconds, "us") : (microseconds / 1_000, "ms")
        return "\(value > 0 ? "+" : "")\(StatusText.decimals(value)) \(unit)"
    }
}
