internal import MIDIClock

extension Kind<[Control]> {
    /// The section `controls`; a control with several programs becomes one for each.
    static var controls: Self {
        let keys: [Key<WrittenControl>] = [
            Key("port", \.control.port, .text(example: "FCB1010")).required("it says where the control is heard"),
            Key("message", \.heard, .message).required("it says what is heard, such as { note: 60 }"),
            Key("do", \.control.verb, .word).required("it says what is done, such as play"),
            Key("tempo", \.control.tempo, .tempo),
            Key("bars", \.control.bars, .whole(Control.Verb.barsToEntry)),
            Key("output", \.control.output, .text(longest: 63, example: "Drums")),
            Key("latching", \.control.isLatching, .boolean),
        ]
        let lists = Kind<[Control]> { node, label, reading in
            let message = Control.Message(.note, 0)
            var written = WrittenControl(
                control: Control(port: Placed("", at: node.place), message: message, verb: .stop))
            let before = reading.mistakes.count
            node.read(into: &written, keys: keys, section: label, &reading)
            let control = written.control
            if control.output != nil, !control.verb.takesOutput, let place = node.place(of: "output") {
                let verbs = Control.Verb.allCases.filter(\.takesOutput).map(\.rawValue)
                reading.note(
                    place, "'output' does nothing with 'do: \(control.verb.rawValue)'; it is for \(verbs.oneOfThem)")
            }
            if reading.mistakes.count == before {
                written.checkTempo(node, label, &reading)
                written.checkBars(node, label, &reading)
                written.checkHeld(node, &reading)
            }
            return written.controls
        }.list(example: "'- { port: FCB1010, message: { program: 1 }, do: play }'")
        return Kind { node, label, reading in lists.read(node, label, &reading).map { Array($0.joined()) } }
    }
}

/// A control as written in the file.
private struct WrittenControl {
    var control: Control
    /// The messages, several with `programs`.
    var heard: [HeardMessage] = []

    /// A control for each message.
    var controls: [Control] {
        heard.map { heard in
            var control = control
            control.message = heard.message
            control.tempo = heard.tempo ?? control.tempo
            return control
        }
    }

    /// Notes what is missing for setting a tempo, and what is only for that.
    func checkTempo(_ node: YAMLNode, _ label: String, _ reading: inout Reading) {
        guard let written = node["message"], let message = heard.first?.message else { return }
        let several = ["programs", "controllers"].first { written[$0] != nil }
        guard control.verb == .tempo else {
            let places = [("tempo", node.place(of: "tempo"))] + (several.map { [($0, written.place(of: $0))] } ?? [])
            for case (let key, let place?) in places {
                reading.note(place, "'\(key)' does nothing with 'do: \(control.verb.rawValue)'; it is for 'do: tempo'")
            }
            return
        }
        if let several, let place = node.place(of: "tempo") {
            reading.note(place, "'tempo' does nothing with '\(several)', which says the tempo; leave it out")
        } else if several == nil, control.tempo == nil {
            reading.note(node.place, "'tempo' is missing in \(label); 'do: tempo' sets it, such as 'tempo: 128'")
        }
        if message.kind == .program, message.channel == nil {
            reading.note(
                written.place,
                "'channel' is missing in 'message'; without it a keyboard's program changes would set the tempo")
        }
    }

    /// Notes bars that are missing, too many, or for nothing.
    func checkBars(_ node: YAMLNode, _ label: String, _ reading: inout Reading) {
        let verb = control.verb.rawValue
        guard let range = control.verb.bars else {
            guard let place = node.place(of: "bars") else { return }
            let verbs = Control.Verb.allCases.filter { $0.bars != nil }.map(\.rawValue)
            return reading.note(place, "'bars' does nothing with 'do: \(verb)'; it is for \(verbs.oneOfThem)")
        }
        guard let bars = control.bars, let written = node["bars"] else {
            return reading.note(node.place, "'bars' is missing in \(label); 'do: \(verb)' takes it, such as 'bars: 4'")
        }
        guard !range.contains(bars) else { return }
        reading.note(
            written.place, "'bars' is '\(bars)'; 'do: \(verb)' takes \(range.lowerBound) to \(range.upperBound)")
    }

    /// Notes what cannot be held.
    func checkHeld(_ node: YAMLNode, _ reading: inout Reading) {
        guard control.verb.isHeld, heard.first?.message.kind == .program, let place = node["message"]?.place else {
            return
        }
        reading.note(
            place,
            "'do: \(control.verb.rawValue)' lasts while a button is held, which a program change does not tell; it takes "
                + "a note or controller")
    }
}

/// A message, with the tempo that `programs` gives it, in thousandths of a BPM.
private struct HeardMessage {
    var message: Control.Message
    var tempo: Int64?
}

extension Kind<[HeardMessage]> {
    /// A message by its name and number, or several by their numbers, with an optional channel.
    fileprivate static var message: Self {
        let keys: [Key<WrittenMessage>] = [
            Key("note", \.note, .whole(0...127)),
            Key("controller", \.controller, .whole(0...127)),
            Key("program", \.program, .whole(0...127)),
            Key("programs", \.programs, .programs),
            Key("controllers", \.controllers, .controllers),
            Key("channel", \.channel, .whole(1...16)),
        ]
        return Kind { node, label, reading in
            var written = WrittenMessage()
            let before = reading.mistakes.count
            node.read(into: &written, keys: keys, section: label, &reading)
            guard reading.mistakes.count == before, node.content != .refused else { return nil }
            let given = written.given
            if given.count == 1, let messages = given.first { return messages }
            let names = "note, controller, program, programs and controllers"
            let finding = given.isEmpty ? "names none" : "names more than one"
            reading.note(node.place, "\(label) \(finding) of \(names); it takes one of them")
            return nil
        }
    }
}

/// A message as written in the file.
private struct WrittenMessage {
    var note: Int?
    var controller: Int?
    var program: Int?
    var programs: [ProgramTempo]?
    var controllers: ControllerPair?
    var channel: Int?

    /// The messages of each key that is given.
    var given: [[HeardMessage]] {
        let single: [(Control.Message.Kind, Int?)] = [(.note, note), (.controller, controller), (.program, program)]
        let messages = single.compactMap { kind, number in
            number.map { [HeardMessage(message: Control.Message(kind, $0, channel: channel))] }
        }
        let listed = programs.map { programs in
            programs.map {
                HeardMessage(message: Control.Message(.program, $0.program, channel: channel), tempo: $0.tempo)
            }
        }
        let pair = controllers.map {
            [HeardMessage(message: Control.Message(.controller, $0.high, low: $0.low, channel: channel))]
        }
        return messages + [listed, pair].compactMap(\.self)
    }
}

/// A program, 0 to 127, and its tempo in thousandths of a BPM.
private struct ProgramTempo {
    var program: Int
    var tempo: Int64
}

/// The controllers of a number's two parts, 0 to 127.
private struct ControllerPair {
    var high: Int
    var low: Int
}

extension Kind<[ProgramTempo]> {
    /// Programs by their numbers, each with its tempo.
    fileprivate static var programs: Self {
        let (number, tempo) = (Kind<Int>.whole(0...127), Kind<Int64>.tempo)
        return Kind { node, label, reading in
            guard node.content != .refused else { return nil }
            guard case .section(let entries) = node.content, !entries.isEmpty else {
                let finding = node.content == .section([]) ? "is empty" : node.finding
                reading.note(
                    node.place, "\(label) \(finding); it takes programs with their tempos such as { 0: 120, 1: 128.5 }")
                return nil
            }
            var seen: Set<Int> = []
            return entries.compactMap { entry in
                let key = YAMLNode(content: .scalar(entry.key, isQuoted: false), place: entry.place)
                let program = number.read(key, "a program in \(label)", &reading)
                let tempo = tempo.read(entry.value, "the tempo of program \(entry.key.inQuotes)", &reading)
                guard let program, let tempo else { return nil }
                // Such as 1 and 01.
                guard seen.insert(program).inserted else {
                    reading.note(entry.place, "program \(program) is given already; keep one")
                    return nil
                }
                return ProgramTempo(program: program, tempo: tempo)
            }
        }
    }
}

extension Kind<ControllerPair> {
    /// Two controllers, that of the high part first.
    fileprivate static var controllers: Self {
        let number = Kind<Int>.whole(0...127)
        return Kind { node, label, reading in
            guard node.content != .refused else { return nil }
            guard case .list(let items) = node.content, items.count == 2 else {
                reading.note(
                    node.place, "\(label) \(node.listFinding); it takes two, the high part first, such as [106, 107]")
                return nil
            }
            let high = number.read(items[0], "the first of \(label)", &reading)
            let low = number.read(items[1], "the second of \(label)", &reading)
            guard let high, let low else { return nil }
            if high != low { return ControllerPair(high: high, low: low) }
            reading.note(items[1].place, "\(label) has the same number twice; each part has its own controller")
            return nil
        }
    }
}
