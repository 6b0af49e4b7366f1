import Arbiter
import BeatTime

/// What a key pressed in `tactus status --watch` asks for.
enum WatchKey: Hashable {
    case quit
    /// A command for the gateway: its path under `/api/v1/`, and its JSON.
    case command(path: String, body: String)

    /// Reads what the keyboard gave at once; a key that sends several bytes, as arrows do, means nothing.
    ///
    /// - Parameters:
    ///   - bytes: of one reading.
    ///   - time: when they came; taps are told by their distances.
    ///   - status: what the switches are now.
    /// - Returns: one for each key that means something.
    static func read(_ bytes: [UInt8], at time: HostTime, _ status: Status) -> [WatchKey] {
        guard bytes.first != 0x1B else { return [] }
        return bytes.compactMap { key($0, at: time, status) }
    }

    private static func key(_ byte: UInt8, at time: HostTime, _ status: Status) -> WatchKey? {
        switch Character(UnicodeScalar(byte)) {
        case "q", "\u{4}": .quit
        case " ": .command(path: "transport", body: #"{"playing":\#(!status.playing)}"#)
        case "t":
            .command(path: "tap", body: #"{"milliseconds":\#(Double(time.microseconds) / 1_000)}"#)
        case "+", "=": .command(path: "nudge", body: #"{"milliseconds":1}"#)
        case "-": .command(path: "nudge", body: #"{"milliseconds":-1}"#)
        case "r": .command(path: "realign", body: "{}")
        case "l": .command(path: "link", body: #"{"enabled":\#(!status.link.enabled)}"#)
        case "s": .command(path: "start-stop-sync", body: #"{"enabled":\#(!status.link.startStopSync)}"#)
        default: nil
        }
    }
}
