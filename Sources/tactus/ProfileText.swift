import ConfigurationFiles
import Essentials
import MIDIClock
import Pulses
import TimeCode

/// A profile as text for people.
enum ProfileText {
    static func lines(_ profile: Profile) -> [String] {
        let rows: [(String, String)] =
            [
                ("name", profile.name), ("from", profile.origin),
                (
                    "recognised",
                    profile.match.isEmpty
                        ? "by nothing; name it with --output \(port(profile))=\(profile.id)"
                        : profile.match.joined(separator: ", ")
                ),
            ] + stream(profile) + [("input", input(profile.input))]
        let notes = profile.notes.flatMap { note in
            ["- \(note.fact)", "  \(note.confidence.rawValue), \(note.source)"]
        }
        let warnings = profile.warnings.map { "- note that \($0)" }
        return (rows.map { "\($0.0.padded(to: 12))\($0.1)" } + notes + warnings).map(\.withoutControls)
    }

    private static func port(_ profile: Profile) -> String {
        profile.pulses.isEmpty
            ? "PORT" : "audio:CARD/\((1...profile.pulses.count).map(String.init).joined(separator: "+"))"
    }

    private static func stream(_ profile: Profile) -> [(String, String)] {
        guard profile.pulses.isEmpty else {
            let lines = profile.pulses.enumerated().map { ("line \($0 + 1)", pulses($1)) }
            let lead = profile.pulses.allSatisfy(\.isClock) ? [] : [("lead", milliseconds(profile.settings.lead))]
            return lines + lead + clock(profile.settings)
        }
        guard let start = profile.timeCode else { return clock(profile.settings) + transport(profile.settings) }
        let rate =
            start.rate == .thirtyDrop ? "29.97 frames a second, drop-frame" : "\(start.rate.name) frames a second"
        return [("time code", "\(rate), from \(start)"), ("offset", milliseconds(profile.settings.offset))]
    }

    private static func pulses(_ line: PulseLine) -> String {
        let signal =
            switch line.signal {
            case .clock(.perBeat(let count), let width):
                "\(count == 1 ? "a pulse" : "\(count) pulses") a beat, \(text(width))"
            case .clock(.everyBars(let count), let width):
                "a pulse \(count == 1 ? "a bar" : "every \(count) bars"), \(text(width))"
            case .run: "on while the song plays"
            case .trigger(.start, let width): "a pulse of \(milliseconds(width)) at the start"
            case .trigger(.stop, let width): "a pulse of \(milliseconds(width)) at the stop"
            case .trigger(.startAndStop, let width): "a pulse of \(milliseconds(width)) at the start and at the stop"
            case .click: "click"
            }
        if case .click(let levels) = line.signal {
            let (bar, beat, between) = (Double(levels.bar), Double(levels.beat), Double(levels.offBeat))
            return
                "\(signal), level \(fixed(bar, 2)) at a bar, \(fixed(beat, 2)) at a beat, \(fixed(between, 2)) between"
        }
        let (off, on) = line.isInverted ? (line.high, line.low) : (line.low, line.high)
        return signal + ", level \(fixed(Double(off), 2)) to \(fixed(Double(on), 2))"
    }

    private static func text(_ width: PulseWidth) -> String {
        switch width {
        case .microseconds(let width): "\(milliseconds(width)) long"
        case .percent(let share): "\(share) % of the time to the next"
        }
    }

    private static func clock(_ settings: OutputSettings) -> [(String, String)] {
        var parts = [settings.isClockAlwaysOn ? "always" : "while playing"]
        if settings.preroll > 0 { parts.append("from \(settings.preroll) beats before Start") }
        if settings.multiply > 1 { parts.append("times \(settings.multiply)") }
        if settings.divide > 1 { parts.append("divided by \(settings.divide)") }
        if settings.swing != 500 { parts.append("swing \(number(settings.swing, 10)) %") }
        if settings.smoothing > 0 { parts.append("tempo changes spread over \(milliseconds(settings.smoothing))") }
        if !settings.mayStep { parts.append("glides, never jumps") }
        return [
            ("clock", parts.joined(separator: ", ")), ("offset", milliseconds(settings.offset)),
            (
                "tempos",
                settings.tempos == .all
                    ? "all"
                    : "\(number(settings.tempos.lowest, 1_000)) to \(number(settings.tempos.highest, 1_000)) BPM"
            ),
        ]
    }

    private static func transport(_ settings: OutputSettings) -> [(String, String)] {
        let start =
            switch settings.start {
            case .start: "Start"
            case .continue: "Continue"
            case .none: "none"
            }
        let messages = [
            settings.sendsStop ? "Stop" : nil, settings.takesContinue ? "Continue" : nil,
            settings.takesSongPosition ? "Song Position" : nil,
        ].compactMap(\.self)
        let realign =
            switch settings.realign {
            case .songPosition: "by Song Position and Continue"
            case .restart: "by Start at the next bar"
            case .none: settings.start == .none ? "not at all" : "only by 'tactus realign'"
            }
        return [
            ("starts by", start), ("takes", messages.isEmpty ? "nothing else" : messages.joined(separator: ", ")),
            ("lead", "\(milliseconds(settings.lead)) from Start to its tick"),
            ("realigned", realign),
        ]
    }

    private static func input(_ input: Profile.Input) -> String {
        let parts = [
            input.isLeader ? "may lead while Link is off" : nil,
            input.isRemoteControl ? "its Start and Stop play and stop the session" : nil,
            input.echoes ? "passes on what it hears, so it is not followed while driven" : nil,
            input.period.map { "sends its clock in audio periods of \($0) s" },
        ].compactMap(\.self)
        return parts.isEmpty ? "not listened to" : parts.joined(separator: ", ")
    }

    private static func milliseconds(_ microseconds: Int64) -> String { "\(number(microseconds, 1_000)) ms" }

    private static func number(_ value: Int64, _ unit: Double) -> String {
        shortest(Double(value) / unit, atMost: 3)
    }
}

extension Profile {
    /// The profile's source.
    var origin: String { file ?? "built in" }
}
