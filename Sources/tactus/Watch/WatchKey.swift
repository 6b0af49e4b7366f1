import BeatTime
import GatewayStatus

/// What a key pressed in `tactus status --watch` asks for.
enum WatchKey: Hashable {
    case quit
    /// A command for the gateway: its path under `/api/v1/`, and its JSON.
    case command(path: String, body: String)

    /// Reads what the keyboard gave at once; a key that sends an escape sequence, as arrows do, means nothing.
    ///
    /// - Parameters:
    ///   - bytes: of one reading.
    ///   - time: when they came; taps are told by their distances.
    ///   - status: what the switches are now.
    /// - Returns: one for each key that means something.
    static func read(_ bytes: [UInt8], at time: HostTime, _ status: Status) -> [WatchKey] {
        var keys: [WatchKey] = []
        var rest = bytes[...]
        while let byte = rest.first {
            if byte == 0x1B {
                skipSequence(&rest)
            } else {
                rest.removeFirst()
                if let key = key(byte, at: time, status) { keys.append(key) }
            }
        }
        return keys
    }

    /// Passes over an escape sequence: a control sequence to its final byte, any other key's introducer and one byte.
    private static func skipSequence(_ rest: inout ArraySlice<UInt8>) {
        let introducer = rest.dropFirst().first.map { Character(UnicodeScalar($0)) }
        rest = rest.dropFirst(2)
        switch introducer {
        case "[": rest = rest.drop { (0x20...0x3F).contains($0) }.dropFirst()
        case "O": rest = rest.dropFirst()
        default: break
        }
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
