internal import MIDIClock
package import Pulses

/// An item of the list `pulses` of a profile: what one channel of a sound card carries.
struct PulseItem: Hashable, Sendable {
    var signal = Signal.clock
    var perBeat: Int64?
    var everyBars: Int64?
    var width: PulseWidth?
    /// Levels in hundredths of full scale: 0 and 100 if nothing is said.
    var low: Int64?
    var high: Int64?
    var isInverted: Bool?
    /// Levels of a click's sounds, in hundredths.
    var bar: Int64?
    var beat: Int64?
    var offBeat: Int64?

    enum Signal: String, CaseIterable, Sendable {
        case clock, run, start, stop, click
        case startStop = "start-stop"
    }

    static let keys: [Key<PulseItem>] = [
        Key("signal", \.signal, .word).required("it is clock, run, start, stop, start-stop or click"),
        Key("per-beat", \.perBeat, .pulsesPerBeat),
        Key("every-bars", \.everyBars, .whole(1...64)),
        Key("width", \.width, .width),
        Key("low", \.low, .level),
        Key("high", \.high, .level),
        Key("inverted", \.isInverted, .boolean),
        Key("bar", \.bar, .loudness),
        Key("beat", \.beat, .loudness),
        Key("off-beat", \.offBeat, .loudness),
    ]

    /// The line, or what is wrong with it.
    var line: Result<PulseLine, Complaint> {
        guard signal != .click else { return click }
        guard bar == nil, beat == nil, offBeat == nil else {
            return .failure(Complaint(advice: "'bar', 'beat' and 'off-beat' are for 'signal: click'"))
        }
        let signal: PulseLine.Signal
        switch (self.signal, perBeat, everyBars) {
        case (.clock, let count?, nil): signal = .clock(.perBeat(count), width ?? .percent(50))
        case (.clock, nil, let bars?): signal = .clock(.everyBars(bars), width ?? .microseconds(5_000))
        case (.clock, _, _): return .failure(Complaint(advice: "a clock takes either 'per-beat' or 'every-bars'"))
        case (_, _?, _), (_, _, _?):
            return .failure(Complaint(advice: "'per-beat' and 'every-bars' are for 'signal: clock'"))
        case (.run, nil, nil):
            guard width == nil else {
                return .failure(Complaint(advice: "'run' is on while the song plays, so it takes no 'width'"))
            }
            signal = .run
        case (.start, nil, nil), (.stop, nil, nil), (.startStop, nil, nil):
            guard case .microseconds(let width) = width ?? .microseconds(5_000) else {
                return .failure(Complaint(advice: "write this 'width' in milliseconds, such as '5 ms'"))
            }
            let trigger: PulseLine.Trigger =
                self.signal == .start ? .start : self.signal == .stop ? .stop : .startAndStop
            signal = .trigger(trigger, microseconds: width)
        case (.click, _, _): return click
        }
        let (low, high) = (low ?? 0, high ?? 100)
        guard low != high else { return .failure(Complaint(advice: "'low' and 'high' must differ")) }
        var line = PulseLine(signal)
        (line.low, line.high, line.isInverted) = (Float(low) / 100, Float(high) / 100, isInverted ?? false)
        return .success(line)
    }

    private var click: Result<PulseLine, Complaint> {
        guard perBeat == nil, everyBars == nil, width == nil, low == nil, high == nil, isInverted == nil else {
            return .failure(Complaint(advice: "a click takes only the keys 'bar', 'beat' and 'off-beat'"))
        }
        let levels = [bar ?? 100, beat ?? 70, offBeat ?? 0].map { Float($0) / 100 }
        guard levels.contains(where: { $0 > 0 }) else {
            return .failure(Complaint(advice: "one of 'bar', 'beat' and 'off-beat' must be more than 0"))
        }
        return .success(PulseLine(.click(ClickLevels(bar: levels[0], beat: levels[1], offBeat: levels[2]))))
    }
}

extension Profile {
    /// What it sends on the channels of a sound card; nil if it is for MIDI.
    package var pulseSettings: PulseSettings? {
        guard !pulses.isEmpty else { return nil }
        return PulseSettings(pulses.map { $0.scaled(by: Float(level) / 100) }, lead: settings.lead)
    }

    /// What cannot be combined with `pulses`, each with its fix.
    ///
    /// - Parameter node: what was read last, the list or another section.
    /// - Returns: the mistakes.
    func pulseMistakes(in node: YAMLNode?) -> [Mistake] {
        guard let node, !pulses.isEmpty else { return [] }
        if !match.isEmpty {
            return [Mistake(node.place, "'pulses' cannot be combined with 'match': no MIDI port carries them")]
        }
        guard timeCodeSection.rate == nil else {
            return [Mistake(node.place, "'pulses' cannot be combined with 'time-code'; write a profile for each")]
        }
        return []
    }
}

extension Kind<[PulseLine]> {
    /// A list of lines, at most 16.
    static var pulses: Self {
        let lines = Kind<PulseLine> { node, label, reading in
            var item = PulseItem()
            let before = reading.mistakes.count
            node.read(into: &item, keys: PulseItem.keys, section: label, &reading)
            guard reading.mistakes.count == before else { return nil }
            switch item.line {
            case .success(let line): return line
            case .failure(let complaint):
                reading.note(node.place, "\(label): \(complaint.advice ?? "")")
                return nil
            }
        }.list(example: "'- signal: clock', with 'per-beat: 24' below it")
        return Kind { node, label, reading in
            guard let lines = lines.read(node, label, &reading) else { return nil }
            let clicks = PulseSettings(lines).clickCount
            guard clicks == 0 || clicks == lines.count else {
                reading.note(node.place, "\(label) has a click and other lines; write a profile for each")
                return nil
            }
            guard lines.count <= 16 else {
                reading.note(node.place, "\(label) has \(lines.count) lines; it takes at most 16")
                return nil
            }
            return lines
        }
    }
}

extension Kind<Int64> {
    fileprivate static var pulsesPerBeat: Self {
        .choice([
            "1": 1, "2": 2, "4": 4, "8": 8, "12": 12, "16": 16, "24": 24, "48": 48,
        ])
    }

    /// A share of full scale, in hundredths.
    fileprivate static var level: Self { decimal(-100...100, decimals: 2, of: "a level") }
    fileprivate static var loudness: Self { decimal(0...100, decimals: 2, of: "a level") }
}

extension Kind<PulseWidth> {
    /// Milliseconds or a percentage, with its unit.
    fileprivate static var width: Self {
        Kind(wanted: "1 to 50 milliseconds or percent, such as '15 ms' or '50 %'") { text, _ throws(Complaint) in
            let words = text.split(separator: " ")
            guard words.count == 2, case .parts(let thousandths) = Decimal.read(String(words[0]), decimals: 3),
                (1_000...50_000).contains(thousandths)
            else { throw Complaint() }
            switch words[1] {
            case "ms": return .microseconds(thousandths)
            case "%" where thousandths % 1_000 == 0: return .percent(thousandths / 1_000)
            default: throw Complaint()
            }
        }
    }
}
