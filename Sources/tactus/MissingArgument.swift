import ConfigurationFiles
import Gateway

/// What to write where a command lacks an argument.
enum MissingArgument {
    /// What the argument may be that a message of the parser misses.
    static func choices(in message: String) -> String? {
        guard let found = message.firstMatch(of: /^Missing expected argument '<(\w+)>/) else { return nil }
        return switch found.1 {
        case "state": "on or off"
        case "beats": "beats in a bar, \(CommandRange.quantum.numbers), such as 4"
        case "verb": Control.Verb.allCases.map(\.rawValue).joined(separator: ", ")
        case "name": "'tactus profiles list' names them"
        case "output": "'tactus status' names them"
        case "port": "auto, off, or a port of 'tactus ports'"
        case "ms": "milliseconds, such as 1 or -0.5"
        case "files": "such as my-synth.yaml"
        case "dir": "a folder, which is made if missing"
        default: nil
        }
    }
}
