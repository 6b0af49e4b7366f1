internal import MIDIClock

extension Profile {
    /// Parses a profile.
    ///
    /// - Parameters:
    ///   - bytes: the file's contents, possibly invalid.
    ///   - file: its name; the part before `.yaml` is the profile's ID.
    /// - Throws: all mistakes in it.
    package init(yaml bytes: [UInt8], file: String) throws(Mistakes) {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        self.init(id: name.hasSuffix(".yaml") ? String(name.dropLast(5)) : name, name: "")
        self.file = file
        try Reading.file(bytes, named: file, keys: Self.keys, into: &self) { profile, root, reading in
            reading.mistakes += profile.contradictions(in: root["transport"])
            reading.mistakes += profile.timeCodeMistakes(in: root["time-code"])
            reading.mistakes += profile.pulseMistakes(in: root["pulses"])
        }
        settle()
    }

    /// Reads a profile file.
    ///
    /// - Parameter path: its path, also used in error messages.
    /// - Throws: why it cannot be read, or all mistakes in it.
    package init(contentsOf path: String) throws(Mistakes) {
        try self.init(yaml: try TextFile.bytes(of: path), file: path)
    }

    /// Parses a built-in profile.
    ///
    /// - Throws: all mistakes in it; there are none in a tested build.
    package init(_ builtIn: BuiltInProfile) throws(Mistakes) {
        try self.init(yaml: Array(builtIn.text.utf8), file: "\(builtIn.id).yaml")
        file = nil
    }

    static let keys: [Key<Profile>] = [
        .version,
        Key("name", \.name, .text(example: "Roland TR-8S")).required("it is what people call the device"),
        Key("match", \.match, .names),
        Key("clock", \.self, section: clockKeys),
        Key("transport", \.self, section: transportKeys),
        Key("time-code", \.self, section: TimeCodeSection.keys),
        Key("pulses", \.pulses, .pulses),
        Key("input", \.input, section: inputKeys),
        Key("notes", \.notes, .notes),
    ]

    static let clockKeys: [Key<Profile>] = [
        Key("when", \.settings.isClockAlwaysOn, .choice(["always": true, "playing": false])),
        Key("offset", \.settings.offset, .milliseconds(OutputSettings.offsets)),
        Key("multiply", \.settings.multiply, .whole(OutputSettings.multipliers)),
        Key("divide", \.settings.divide, .whole(OutputSettings.divisors)),
        Key("swing", \.settings.swing, .decimal(OutputSettings.swings, decimals: 1, of: "a percentage")),
        Key("range", \.settings.tempos, .tempos(in: 1_000...999_000)),
        Key("level", \.level, .decimal(1...100, decimals: 2, of: "a share of full scale")),
        Key("preroll", \.settings.preroll, .whole(0...16)),
        Key("smoothing", \.settings.smoothing, .milliseconds(0...500_000)),
        Key("rephase", \.settings.mayStep, .choice(["allowed": true, "never": false])),
    ]

    static let transportKeys: [Key<Profile>] = [
        Key("start", \.settings.start, .choice(["start": .start, "continue": .continue, "none": .none])),
        Key("stop", \.settings.sendsStop, .boolean),
        Key("continue", \.settings.takesContinue, .boolean),
        Key("song-position", \.settings.takesSongPosition, .boolean),
        Key("lead", \.settings.lead, .milliseconds(0...50_000)),
        Key("locate", \.settings.locate, .milliseconds(0...1_000_000)),
        Key(
            "realign", \.statedRealign,
            .choice(["song-position": .songPosition, "restart": .restart, "none": .none])),
    ]

    private static let inputKeys: [Key<Input>] = [
        Key("role", \.isLeader, .choice(["none": false, "leader": true])),
        Key("transport", \.isRemoteControl, .boolean),
        Key("echoes", \.echoes, .boolean),
        Key("period", \.period, .period),
    ]

    fileprivate static let noteKeys: [Key<Note>] = [
        Key("fact", \.fact, .text(longest: 1_000, example: "'transmits clock at all times'"))
            .required("it says what is known"),
        Key("source", \.source, .text(longest: 1_000, example: "a web address, or unsourced"))
            .required("it says where the fact is from, or 'unsourced'"),
        Key("confidence", \.confidence, .word).required("it is high, medium or low"),
    ]

    /// Settings in the section `transport` that contradict each other.
    ///
    /// - Parameter section: as last read; a mistake is reported at the first key that is part of it.
    /// - Returns: the mistakes, each with its fix.
    func contradictions(in section: YAMLNode?) -> [Mistake] {
        var found: [Mistake] = []
        func exclude(_ keys: [String], _ message: String) {
            guard let place = keys.lazy.compactMap({ section?.place(of: $0) }).first else { return }
            found.append(Mistake(place, message))
        }
        if statedRealign == .songPosition, let lacking = settings.missingForSongPosition {
            exclude(
                ["realign", lacking.key],
                "'realign: song-position' cannot be combined with '\(lacking.key): \(lacking.value)'; "
                    + "write 'realign: \(settings.start == .none ? "none" : "restart")'")
        }
        if statedRealign == .restart, settings.start == .none {
            exclude(
                ["realign", "start"], "'realign: restart' cannot be combined with 'start: none'; write 'realign: none'")
        }
        if settings.start == .continue, !settings.takesContinue {
            exclude(
                ["start", "continue"],
                "'start: continue' cannot be combined with 'continue: false'; write 'start: start' or 'continue: true'")
        }
        return found
    }
}

extension OutputSettings {
    /// The first missing key for placing a playing device: Stop, Song Position, Continue.
    var missingForSongPosition: (key: String, value: String)? {
        if start == .none { return ("start", "none") }
        if !sendsStop { return ("stop", "false") }
        if !takesContinue { return ("continue", "false") }
        return takesSongPosition ? nil : ("song-position", "false")
    }
}

extension Kind<[Profile.Note]> {
    fileprivate static var notes: Self {
        Kind<Profile.Note> { node, label, reading in
            var note = Profile.Note(fact: "", source: "", confidence: .low)
            node.read(into: &note, keys: Profile.noteKeys, section: label, &reading)
            return note
        }.list(example: "'- fact: …', with 'source:' and 'confidence:' below it")
    }
}

extension Kind<[String]> {
    /// Names of ports without duplicates.
    fileprivate static var names: Self {
        let names = Kind<String>.text(example: "TR-8S MIDI 1").placed.list(example: #"["TR-8S MIDI 1"]"#)
        return Kind { node, label, reading in
            var seen: Set<String> = []
            return names.read(node, label, &reading)?.map { name in
                if !seen.insert(name.value.lowercased()).inserted {
                    reading.note(name.place, "\(label) names \(name.value.inQuotes) twice; keep one")
                }
                return name.value
            }
        }
    }
}
