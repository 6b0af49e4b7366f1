/// What `tactus monitor` measures: a port, a recording, or a sound card.
enum MonitorSource: Hashable, Sendable {
    case port(MonitoredPort)
    /// An audio file: recorded clicks, or the recorded signal of a MIDI cable.
    case recording(path: String)
    /// A sound card, by its libasound name such as `hw:1`.
    case sound(device: String)

    /// An argument with one of these extensions is a recording; lower case.
    private static let fileExtensions: Set = [
        "wav", "wave", "flac", "aif", "aiff", "aifc", "caf", "w64", "rf64", "au", "ogg",
    ]

    init(argument: String) throws(BadArgument) {
        if argument.hasPrefix("pcm:") {
            let device = String(argument.dropFirst(4))
            guard !device.isEmpty else { throw BadArgument("name a sound card, as in pcm:hw:1 or pcm:default") }
            self = .sound(device: device)
        } else if argument.contains("."),
            Self.fileExtensions.contains(argument.split(separator: ".").last?.lowercased() ?? "")
        {
            self = .recording(path: argument)
        } else {
            self = .port(try MonitoredPort(argument: argument))
        }
    }
}
