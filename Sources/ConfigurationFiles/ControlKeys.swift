internal import MIDIClock

extension Kind<[Control]> {
    /// The section `controls`.
    static var controls: Self {
        let keys: [Key<Control>] = [
            Key("port", \.port, .text(example: "FCB1010")).required("it says where the control is heard"),
            Key("message", \.message, .message).required("it says what is heard, such as { note: 60 }"),
            Key("do", \.verb, .word).required("it says what is done, such as play"),
            Key("output", \.output, .text(longest: 63, example: "Drums")),
            Key("latching", \.isLatching, .boolean),
        ]
        return Kind<Control> { node, label, reading in
            var control = Control(port: Placed("", at: node.place), message: Control.Message(.note, 0), verb: .stop)
            node.read(into: &control, keys: keys, section: label, &reading)
            if control.output != nil, !control.verb.takesOutput, let place = node.place(of: "output") {
                let verbs = Control.Verb.allCases.filter(\.takesOutput).map(\.rawValue)
                reading.note(
                    place, "'output' does nothing with 'do: \(control.verb.rawValue)'; it is for \(verbs.oneOfThem)")
            }
            if control.verb.isHeld, control.message.kind == .program, let place = node.place(of: "message") {
                reading.note(
                    place,
                    "'do: \(control.verb.rawValue)' lasts while a button is held, which a program change does not tell; "
                        + "it takes a note or controller")
            }
            return control
        }.list(example: "'- { port: FCB1010, message: { program: 1 }, do: play }'")
    }
}

extension Kind<Control.Message> {
    /// A message by its name and number, with an optional channel.
    fileprivate static var message: Self {
        let keys: [Key<WrittenMessage>] = [
            Key("note", \.note, .whole(0...127)),
            Key("controller", \.controller, .whole(0...127)),
            Key("program", \.program, .whole(0...127)),
            Key("channel", \.channel, .whole(1...16)),
        ]
        return Kind { node, label, reading in
            var written = WrittenMessage()
            let before = reading.mistakes.count
            node.read(into: &written, keys: keys, section: label, &reading)
            guard reading.mistakes.count == before, node.content != .refused else { return nil }
            let given = written.given
            if given.count == 1, let (kind, number) = given.first {
                return Control.Message(kind, number, channel: written.channel)
            }
            let finding = given.isEmpty ? "names none" : "names more than one"
            reading.note(node.place, "\(label) \(finding) of note, controller and program; it takes one of them")
            return nil
        }
    }
}

/// A message as written in the file.
private struct WrittenMessage {
    var note: Int?
    var controller: Int?
    var program: Int?
    var channel: Int?

    var given: [(Control.Message.Kind, Int)] {
        [(.note, note), (.controller, controller), (.program, program)].compactMap { kind, number in
            number.map { (kind, $0) }
        }
    }
}
