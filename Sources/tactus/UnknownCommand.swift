import ArgumentParser
import ConfigurationFiles

extension ParsableCommand {
    /// Refuses an unknown command.
    ///
    /// - Parameter words: the arguments.
    /// - Throws: with the command that was probably meant.
    static func requireCommand(_ words: some Sequence<String>) throws(Failure) {
        var known = configuration.subcommands
        for word in words.drop(while: { $0 == "help" }) {
            guard !known.isEmpty, !word.hasPrefix("-") else { return }
            let names = known.map { $0._commandName }
            guard let index = names.firstIndex(of: word) else {
                let meant = synonyms[word.lowercased()].flatMap { names.contains($0) ? $0 : nil }
                let nearest = (meant ?? NearestWord.to(word, among: names)).map { "did you mean '\($0)'?" }
                throw Failure(.usage, "there is no command '\(word)'; \(nearest ?? "'tactus --help' lists them all")")
            }
            known = known[index].configuration.subcommands
        }
    }
}

/// Other words for commands.
private let synonyms = [
    "start": "play", "go": "play", "pause": "stop", "halt": "stop", "bpm": "tempo", "speed": "tempo", "offset": "nudge",
    "devices": "ports", "list": "ports", "outputs": "status", "info": "status", "live": "watch", "top": "watch",
    "session": "peers", "check": "doctor", "configuration": "config",
]
