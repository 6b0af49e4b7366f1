/// What `tactus monitor` measures: a port, or a recording.
enum MonitorSource: Hashable, Sendable {
    case port(MonitoredPort)
    /// A file.
    case recording(path: String)

    /// How names of recordings end.
    private static let endings: Set = ["wav", "wave", "flac", "aif", "aiff", "aifc", "caf", "w64", "rf64", "au", "ogg"]

    init(argument: String) throws(BadArgument) {
        if argument.contains("."), Self.endings.contains(argument.split(separator: ".").last?.lowercased() ?? "") {
            self = .recording(path: argument)
        } else {
            self = .port(try MonitoredPort(argument: argument))
        }
    }
}
