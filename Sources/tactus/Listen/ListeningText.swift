import Essentials
import SoundCalibration

/// What a calibration by listening says.
enum ListeningText {
    /// What to do before and meanwhile.
    static let instructions = [
        "Set the machine to one short, dry sound on every beat and to nothing else, and have it follow MIDI clock.",
        "It takes about 80 beats. Do not touch tempo or transport meanwhile. Ctrl-C ends it and leaves all as it was.",
    ]

    /// How far it has come, for a terminal.
    static func lines(_ progress: SoundCalibration.Progress) -> [Line] {
        var lines = [row("level", meter(progress.decibels, isClipped: progress.clipped > 0))]
        if let other = progress.otherDecibels { lines.append(row("compared", meter(other, isClipped: false))) }
        let newest = progress.newestDelay.map { ", the newest \(MonitorText.duration(abs($0))) \(side($0))" } ?? ""
        lines.append(
            row(
                "beats",
                Line("\(progress.beats) of \(max(progress.beats, progress.needed)), \(progress.hits) hits\(newest)")))
        lines.append(row("now", Line(step(progress))))
        return lines
    }

    static func step(_ progress: SoundCalibration.Progress) -> String {
        switch progress.step {
        case .waiting: "waiting for the start of a bar"
        case .measuring: "listening, with the clock left alone"
        case .checking: "checking that the sound follows: the clock is moved a little to and fro"
        }
    }

    private static func row(_ name: String, _ text: Line) -> Line { Line(name.padded(to: 12), .faint) + text }

    /// 60 dB in 30 characters.
    private static func meter(_ decibels: Double?, isClipped: Bool) -> Line {
        guard let decibels else { return Line("silence", .caution) }
        let filled = Int(min(max((decibels + 60) / 2, 0), 30))
        let tone: Tone = isClipped ? .bad : filled < 5 ? .caution : .good
        return Line(String(repeating: "█", count: filled), tone)
            + Line(String(repeating: "░", count: 30 - filled) + " \(fixed(decibels, 0)) dB", .faint)
            + Line(isClipped ? "  clips: turn it down" : "", .bad)
    }

    /// Which side of the beat a delay is on.
    static func side(_ delay: Double) -> String { delay < 0 ? "early" : "late" }

    /// What was found.
    ///
    /// - Parameters:
    ///   - result: the figures.
    ///   - name: of the machine.
    ///   - isLatencyKnown: whether the sound card's own latency was given.
    /// - Returns: one line each.
    static func lines(_ result: SoundResult, of name: String, isLatencyKnown: Bool) -> [String] {
        let behind =
            switch result.reference {
            case .beat: "the beat as this machine sends it"
            case .machine: "what is on the other channel"
            case .ownClock: "its own clock on the other channel"
            }
        let latency =
            "the sound card's own latency is in this; measure it once (docs/calibrating.md) and give it as "
            + "--input-latency, or use --against"
        return [
            "\(name): sounds \(MonitorText.duration(abs(result.delay))) \(result.delay < 0 ? "before" : "after") \(behind), "
                + "give or take \(MonitorText.duration(result.uncertainty))",
            "its own spread: \(MonitorText.duration(result.spread)), drift "
                + "\(MonitorText.duration(result.drift)) a minute; \(verdict(result))",
            "hits: \(result.used) used, \(result.rejected) rejected",
            "checked: when the clock moved, the sound followed by \(fixed(100 * result.response, 0)) %",
            "delays: \(histogram(result))",
            "to be on the beat there, its offset is \(fixed(offset(result), 2)) ms",
        ] + (result.reference == .beat && !isLatencyKnown ? [latency] : [])
    }

    /// Milliseconds, to a hundredth.
    static func offset(_ result: SoundResult) -> Double { 0 + (result.offset / 10).rounded() / 100 }

    /// What the figures mean to somebody who plays.
    static func verdict(_ result: SoundResult) -> String {
        let timing =
            switch result.spread {
            case ..<300: "steady: nobody hears that"
            case ..<1_000: "good: as drum machines are"
            case ..<3_000: "loose: an offset puts it right on average, single hits will be off"
            default: "uneven: an offset does little, the machine itself varies more"
            }
        return result.uncertainty > 1_000
            ? "\(timing); measured roughly: a shorter, drier, louder sound tells more" : timing
    }

    /// The shape of the delays from the earliest to the latest.
    private static func histogram(_ result: SoundResult) -> String {
        let delays = result.hits.map(\.microseconds)
        guard let first = delays.min(), let last = delays.max(), last > first else { return "-" }
        var counts = [Int](repeating: 0, count: 16)
        for delay in delays { counts[min(15, Int(16 * (delay - first) / (last - first)))] += 1 }
        let (most, blocks) = (counts.max() ?? 1, Array(" ▁▂▃▄▅▆▇█"))
        let shape = counts.map { blocks[$0 == 0 ? 0 : max(1, 8 * $0 / most)] }
        return "\(MonitorText.duration(first)) [\(String(shape))] \(MonitorText.duration(last))"
    }

    /// Why there is no result, and what to do.
    static func words(_ doubt: SoundDoubt, of name: String, channel: Int, against: Int?) -> String {
        func amount(_ microseconds: Double) -> String { MonitorText.duration(abs(microseconds)) }
        switch doubt {
        case .noHits(let heard, let beats, let decibels):
            let level = decibels.map { "the loudest sample is at \(fixed($0, 0)) dB" } ?? "there is only silence"
            return
                "\(heard) sounds on \(beats) beats are heard on channel \(channel), and \(level); see that the machine "
                + "plays, that it is on this channel (--channel), and loud enough"
        case .clipping:
            return
                "most hits clip on channel \(channel); turn the machine or the input down until the level stays below 0 dB"
        case .several(let perBeat):
            return "\(fixed(perBeat, 1)) sounds are heard for each beat; have \(name) play one sound on each beat and "
                + "nothing else, without echo"
        case .uneven(let matched, let beats):
            return
                "sounds are heard, but only \(matched) of \(beats) beats have one at the same place; have \(name) play "
                + "one sound on every beat, and see that it follows the clock"
        case .wrongBeat(let microseconds, let interval):
            return
                "the sound comes \(amount(microseconds)) \(side(microseconds)), where beats are \(amount(interval)) apart: "
                + "it may be on another sixteenth than the beat; program it on the beat, or, if \(name) really is so "
                + "far off, measure at \(StatusText.decimals(max(20, (60e6 / (10 * abs(microseconds))).rounded(.down)))) BPM"
        case .wholeBeat:
            return
                "\(name) follows its clock about a beat late or early, so which beat a sound belongs to is not clear; "
                + "switch off any smoothing of the clock in the machine, or measure at half the tempo"
        case .drift(let perMinute):
            return
                "\(name) moves away from the beat, by \(amount(perMinute)) a minute: it plays by a clock of its own; "
                + "set it to follow MIDI clock"
        case .doesNotFollow(let response):
            return
                "the clock was moved, and the sound moved by \(fixed(100 * response, 0)) % of that: what is heard does "
                + "not follow \(name)'s clock; see that it is the right machine, and set to MIDI clock"
        case .clockUnmoved:
            return
                "the clock of \(name) did not move when it was told to; see that nothing else sets its offset, and try again"
        case .tempoChanged: return "the tempo changed meanwhile; keep it, and try again"
        case .scattered(let spread):
            return
                "\(name) varies by \(amount(spread)) from hit to hit, too much to tell whether it follows its clock; "
                + "try a shorter, drier, louder sound, or a slower tempo"
        case .noReference(let matched, let beats):
            return "\(matched) of \(beats) beats have a sound on channel \(against ?? 0), which it is compared with; "
                + "have that play on every beat, too, or connect a MIDI cable"
        case .noStart:
            return
                "no Start was heard on the MIDI cable at channel \(against ?? 0), which says which tick is a beat; see "
                + "that the cable gets all that \(name) gets, and try again"
        case .unclearReference(let response):
            return
                "when the clock was moved, channel \(against ?? 0) moved by \(fixed(100 * response, 0)) % of that: neither "
                + "another machine (0 %) nor the clock of \(name) itself (100 %)"
        case .sameClock:
            return
                "channel \(against ?? 0) follows the clock of \(name), too, so one offset moves both; have a machine on "
                + "another output play there, or connect a MIDI cable (docs/calibrating.md)"
        case .interrupted: return "the clock of \(name) was stopped or started anew meanwhile; try again"
        case .lost: return "this machine was too busy and lost sound or ticks; close other programs, and try again"
        case .noStamps:
            return "the sound card's driver does not say when its samples were taken; try the card itself, such as hw:1"
        }
    }
}
