internal import MIDIClock
internal import Pulses
internal import TimeCode

/// A profile as JSON: all settings in use, in the units of its file; `file` is null if it is built in.
extension Profile: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(id, forKey: .id)
        try container.encode(file, forKey: .file)
        try container.encode(name, forKey: .name)
        try container.encode(match, forKey: .match)
        try container.encode(ClockSection(settings, level: level), forKey: .clock)
        try container.encode(TransportSection(settings), forKey: .transport)
        try container.encode(timeCode.map(TimeCodeEntry.init), forKey: .timeCode)
        try container.encode(pulses.map(PulseEntry.init), forKey: .pulses)
        try container.encode(InputSection(input), forKey: .input)
        try container.encode(notes.map(NoteEntry.init), forKey: .notes)
    }

    private enum Keys: CodingKey { case id, file, name, match, clock, transport, timeCode, pulses, input, notes }

    private struct ClockSection: Encodable {
        var when, rephase: String
        var offset, swing, smoothing, level: Double
        var multiply, divide, preroll: Int64
        var range: [Double]

        init(_ settings: OutputSettings, level: Int64) {
            self.level = Double(level) / 100
            when = settings.isClockAlwaysOn ? "always" : "playing"
            rephase = settings.mayStep ? "allowed" : "never"
            offset = Double(settings.offset) / 1_000
            swing = Double(settings.swing) / 10
            smoothing = Double(settings.smoothing) / 1_000
            (multiply, divide, preroll) = (settings.multiply, settings.divide, settings.preroll)
            range = [settings.tempos.lowest, settings.tempos.highest].map { Double($0) / 1_000 }
        }
    }

    private struct TransportSection: Encodable {
        var start, realign: String
        var stop, `continue`, songPosition: Bool
        var lead, locate: Double

        init(_ settings: OutputSettings) {
            start =
                switch settings.start {
                case .start: "start"
                case .continue: "continue"
                case .none: "none"
                }
            realign =
                switch settings.realign {
                case .songPosition: "song-position"
                case .restart: "restart"
                case .none: "none"
                }
            (stop, `continue`) = (settings.sendsStop, settings.takesContinue)
            songPosition = settings.takesSongPosition
            lead = Double(settings.lead) / 1_000
            locate = Double(settings.locate) / 1_000
        }
    }

    private struct TimeCodeEntry: Encodable {
        var rate, start: String

        init(_ start: TimeCode) {
            rate = start.rate.name
            self.start = start.description
        }
    }

    private struct PulseEntry: Encodable {
        var signal: String
        var perBeat, everyBars: Int64?
        /// As the file writes it.
        var width: String?
        var low, high: Double?
        var inverted: Bool?
        var bar, beat, offBeat: Double?

        init(_ line: PulseLine) {
            switch line.signal {
            case .clock(.perBeat(let count), let width):
                (signal, perBeat, self.width) = ("clock", count, Self.text(width))
            case .clock(.everyBars(let count), let width):
                (signal, everyBars, self.width) = ("clock", count, Self.text(width))
            case .run: signal = "run"
            case .trigger(let trigger, let width):
                signal = trigger == .start ? "start" : trigger == .stop ? "stop" : "start-stop"
                self.width = Self.text(.microseconds(width))
            case .click(let levels):
                signal = "click"
                (bar, beat, offBeat) = (Self.level(levels.bar), Self.level(levels.beat), Self.level(levels.offBeat))
                return
            }
            (low, high, inverted) = (Self.level(line.low), Self.level(line.high), line.isInverted)
        }

        private static func level(_ level: Float) -> Double { (Double(level) * 100).rounded() / 100 }

        private static func text(_ width: PulseWidth) -> String {
            switch width {
            case .microseconds(let width): "\(Decimal.text(width, decimals: 3)) ms"
            case .percent(let share): "\(share) %"
            }
        }
    }

    private struct InputSection: Encodable {
        var role: String
        var transport, echoes: Bool
        /// Null if it is not known.
        var period: String?

        init(_ input: Input) {
            role = input.isLeader ? "leader" : "none"
            (transport, echoes) = (input.isRemoteControl, input.echoes)
            period = input.period?.description
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(role, forKey: .role)
            try container.encode(transport, forKey: .transport)
            try container.encode(echoes, forKey: .echoes)
            try container.encode(period, forKey: .period)
        }

        private enum Keys: CodingKey { case role, transport, echoes, period }
    }

    private struct NoteEntry: Encodable {
        var fact, source, confidence: String

        init(_ note: Note) {
            (fact, source, confidence) = (note.fact, note.source, note.confidence.rawValue)
        }
    }
}
