import ArgumentParser
import ConfigurationFiles
import Essentials
import Gateway

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check a configuration before it is used.",
        discussion: """
            A configuration says what 'tactus run' does at each start. It is ~/.config/tactus/config.yaml, or else \
            /etc/tactus/config.yaml. The system service also reads profiles in /var/lib/tactus-profiles.

            EXAMPLES
              tactus config check
              tactus config check my-box.yaml
            """,
        subcommands: [Check.self])

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check a configuration, with the profiles that it names.",
            discussion: """
                EXAMPLES
                  tactus config check
                  tactus config check my-box.yaml --json | jq '.mistakes'
                """)

        @Argument(
            help: "The file. (default: the one that 'tactus run' reads)", completion: .file(extensions: ["yaml"]))
        var file: String?
        @OptionGroup var options: ProfilesCommand.LibraryOptions
        @Flag(help: "Print what is found as JSON.") var json = false

        func run() throws {
            try Folders.requireProfiles(options.profiles)
            guard let path = file ?? Folders.configuration else {
                let text = "there is no configuration, so 'tactus run' does as it says of itself"
                return print(json ? try JSON.text(Found()) : text)
            }
            let found = Found(path, adding: options.profiles)
            if json {
                print(try JSON.text(found))
            } else {
                for warning in found.warnings { complain("\(path): warning: \(warning)") }
                if found.mistakes.isEmpty {
                    print("\(path): no mistake".withoutControls)
                } else {
                    complain(Mistakes(found.mistakes.map(\.mistake)).description)
                }
            }
            guard found.mistakes.isEmpty else { throw Failure(.badFile, "\(path) cannot be used") }
        }
    }

    /// What is found in a configuration.
    private struct Found: Encodable {
        /// Empty if there is none.
        var file = ""
        var warnings: [String] = []
        var mistakes: [FoundMistake] = []

        init() {}

        init(_ path: String, adding profiles: [String]) {
            file = path
            let words = ["--config=\(path)"] + profiles.map { "--profiles=\($0)" }
            do {
                let setup = try Setup(try Run.parse(words))
                mistakes = [
                    Self.mistakes { () throws(Mistakes) in
                        warnings = try setup.liveConfiguration().notices.map(\.message)
                    },
                    Self.mistakes { () throws(Mistakes) in _ = try setup.address() },
                    Self.mistakes { () throws(Mistakes) in _ = try setup.oscAddress() },
                    Self.mistakes { () throws(Mistakes) in _ = try setup.interfaces() },
                ].flatMap(\.self)
                if !mistakes.isEmpty { warnings = [] }
                if let mistake = setup.secretMistake {
                    // The token of a service may be for the service only.
                    if setup.token?.isForbidden == true {
                        warnings.append("\(mistake.message), so it was not checked")
                    } else {
                        mistakes.append(FoundMistake(mistake))
                    }
                }
            } catch let all as Mistakes {
                mistakes = all.all.map(FoundMistake.init)
            } catch {
                // The words above are always accepted.
                mistakes = [FoundMistake(Mistake(Place(file: path, line: 0, column: 0), "\(error)"))]
            }
        }

        private static func mistakes(_ check: () throws(Mistakes) -> Void) -> [FoundMistake] {
            do throws(Mistakes) {
                try check()
                return []
            } catch {
                return error.all.map(FoundMistake.init)
            }
        }
    }
}
