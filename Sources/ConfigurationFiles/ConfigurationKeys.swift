internal import BeatTime
internal import MIDIClock

extension ConfigurationFile {
    /// Parses a configuration; a file without content, such as one of comments only, is an empty one.
    ///
    /// - Parameters:
    ///   - bytes: the file's contents, possibly invalid.
    ///   - file: its name, for error messages.
    /// - Throws: all mistakes in it.
    package init(yaml bytes: [UInt8], file: String) throws(Mistakes) {
        self.init()
        try Reading.file(bytes, named: file, keys: Self.keys, mayBeEmpty: true, into: &self)
    }

    /// Reads a configuration file.
    ///
    /// - Parameter path: its path, also used in error messages.
    /// - Throws: why it cannot be read, or all mistakes in it.
    package init(contentsOf path: String) throws(Mistakes) {
        try self.init(yaml: try TextFile.bytes(of: path), file: path)
    }

    private static let keys: [Key<ConfigurationFile>] = [
        .version,
        Key("play", \.play, .boolean),
        Key("resume", \.resume, .boolean),
        Key("tempo", \.tempo, .tempo),
        Key("at-each-start", \.atEachStart, Kind<Starting>.word.list(example: "[tempo, link]")),
        Key("outputs", \.outputs, .outputs),
        Key("auto-connect", \.connectsRecognised, .boolean),
        Key("follow", \.follow, section: followKeys),
        Key("link", \.link, section: linkKeys),
        Key("tempo-range", \.tempoRange, .tempos(in: 20_000...999_000)),
        Key("session-tempo", \.sessionTempo, Kind<TempoFence>.fence(in: 20_000...999_000).placed),
        Key("session-tempo-outside", \.outsideSessionTempo, .word),
        Key("http", \.http, section: httpKeys),
        Key("osc", \.osc, section: oscKeys),
        Key("controls", \.controls, .controls),
        Key("log", \.log, section: logKeys),
    ]

    fileprivate static let outputKeys: [Key<Output>] = [
        Key("port", \.port, .text(longest: 1_000, example: "TR-8S")).required("it says which output this is"),
        Key("name", \.name, .text(longest: 63, example: "Bass")),
        Key("profile", \.profile, .text(example: "roland-tr-8s")),
        Key("groups", \.groups, Kind<Placed<String>>.text(longest: 63, example: "drums").list(example: "[drums]")),
        Key("clock", \.overrides.clock, override: Profile.clockKeys),
        Key("transport", \.overrides.transport, override: Profile.transportKeys),
        Key("time-code", \.overrides.timeCode, override: TimeCodeSection.keys),
    ]

    private static let followKeys: [Key<Follow>] = [
        Key("source", \.source, .text(example: "auto, off or the name of a port")),
        Key("when-lost", \.whenLost, .word),
        Key("period", \.period, .period),
    ]

    private static let linkKeys: [Key<Link>] = [
        Key("enabled", \.isEnabled, .boolean),
        Key("start-stop-sync", \.isStartStopSyncEnabled, .boolean),
        Key("quantum", \.quantum, .beats(upTo: 64)),
        Key("interfaces", \.interfaces, Kind<Placed<String>>.text(example: "eth0").list(example: "[eth0, wlan0]")),
        Key("deactivate-when-idle", \.deactivatesWhenIdle, .boolean),
    ]

    private static let httpKeys: [Key<HTTP>] = [
        Key("address", \.address, .text(example: "127.0.0.1")),
        Key("port", \.port, .whole(1...65_535)),
        Key("token-file", \.tokenFile, Kind.text(longest: 4_096, example: "/etc/tactus/token").placed.orNull),
    ]

    private static let oscKeys: [Key<OSC>] = [
        Key("enabled", \.isEnabled, .boolean),
        Key("address", \.address, .text(example: "127.0.0.1")),
        Key("port", \.port, .whole(1...65_535)),
    ]

    private static let logKeys: [Key<Log>] = [
        Key("level", \.level, .word),
        Key("format", \.format, .word),
    ]
}

extension Kind<Beats> {
    fileprivate static func beats(upTo most: Int64) -> Self {
        let microbeats = Kind<Int64>.decimal(0...most * 1_000_000, decimals: 6, of: "beats")
        return Kind { node, label, reading in
            microbeats.read(node, label, &reading).map { Beats(microbeats: $0) }
        }
    }
}

extension Kind<[ConfigurationFile.Output]> {
    fileprivate static var outputs: Self {
        Kind<ConfigurationFile.Output> { node, label, reading in
            var output = ConfigurationFile.Output(port: Placed("", at: node.place))
            node.read(into: &output, keys: ConfigurationFile.outputKeys, section: label, &reading)
            return output
        }.list(example: "'- port: TR-8S'")
    }
}
