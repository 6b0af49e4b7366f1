import BeatTime
import Gateway
import GatewayStatus
import MIDIClock

/// The meaning of a key in `tactus watch`.
enum WatchKey: Hashable {
    case quit
    case command(Command)

    /// Reads the bytes of one read; keys that send escape sequences, such as arrows, mean nothing.
    ///
    /// - Parameters:
    ///   - bytes: as read.
    ///   - time: when they arrived, for the distance of taps.
    ///   - status: the present state of the switches.
    /// - Returns: one entry for each key with a meaning.
    static func read(_ bytes: [UInt8], at time: HostTime, _ status: Status) -> [WatchKey] {
        plainKeys(bytes).compactMap { key($0, at: time, status) }
    }

    /// Whether one of these keys ends the watching.
    static func quits(_ bytes: [UInt8]) -> Bool { plainKeys(bytes).contains(where: quitKeys.contains) }

    /// q and Ctrl-D.
    private static let quitKeys = [UInt8(ascii: "q"), 4]

    private static func plainKeys(_ bytes: [UInt8]) -> [UInt8] {
        var keys: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.first {
            if byte == 0x1B {
                skipSequence(&rest)
            } else {
                keys.append(rest.removeFirst())
            }
        }
        return keys
    }

    /// Skips an escape sequence: a control sequence to its final byte, or the introducer and one byte of another key.
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
        case _ where quitKeys.contains(byte): .quit
        case " ": .command(.setPlaying(!status.playing))
        case "t": .command(.tap(at: time))
        case "+", "=": .command(.adjust(output: nil, OutputAdjustment(nudge: 1)))
        case "-": .command(.adjust(output: nil, OutputAdjustment(nudge: -1)))
        case "r": .command(.realign(output: nil, .atBar))
        case "u": .command(.undo)
        case "l": .command(.enableLink(!status.link.enabled))
        case "s": .command(.enableStartStopSync(!status.link.startStopSync))
        default: nil
        }
    }
}
