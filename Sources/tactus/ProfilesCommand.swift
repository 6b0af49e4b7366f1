import ArgumentParser
import ConfigurationFiles
import Essentials
import Glibc

struct ProfilesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profiles", abstract: "List, show, check and export profiles: what is known about devices.",
        discussion: """
            A profile says how a device wants to be driven. Many are built in. A file of the same name in \
            /etc/tactus/profiles wins over the built-in profile, and one in ~/.config/tactus/profiles over both.

            EXAMPLES
              tactus profiles list
              tactus profiles show korg-volca
            """,
        subcommands: [List.self, Show.self, Check.self, Export.self])

    /// Options for where profiles are searched.
    struct LibraryOptions: ParsableArguments {
        @Option(
            help: ArgumentHelp("Another folder of profiles. Repeatable.", valueName: "dir"), completion: .directory)
        var profiles: [String] = []

        /// Reads all profiles; mistakes in those left out go to stderr.
        func library() throws(Failure) -> ProfileLibrary {
            try Folders.requireProfiles(profiles)
            let library = ProfileLibrary(adding: profiles)
            for mistake in library.mistakes { complain("\(mistake)") }
            return library
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List all profiles, and where each comes from.",
            discussion: """
                EXAMPLES
                  tactus profiles list
                  tactus profiles list --json | jq -r '.[].id'
                """)

        @OptionGroup var options: LibraryOptions
        @Flag(help: "Print the profiles as JSON.") var json = false

        func run() throws {
            let profiles = try options.library().profiles
            guard !json else { return print(try JSON.text(profiles)) }
            let width = (profiles.map(\.id.count).max() ?? 0) + 2
            for profile in profiles {
                let names = profile.match.isEmpty ? "" : " (\(profile.match.joined(separator: ", ")))"
                print("\(profile.id.padded(to: width))\(profile.name)\(names) [\(profile.origin)]".withoutControls)
            }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what a profile says.",
            discussion: """
                EXAMPLES
                  tactus profiles show korg-volca
                  tactus profiles show korg-volca --json | jq .clock
                """)

        @Argument(help: ArgumentHelp("As 'tactus profiles list' names it.", valueName: "name"), completion: .profile)
        var id: String
        @OptionGroup var options: LibraryOptions
        @Flag(help: "Print the profile as JSON.") var json = false

        func run() throws {
            let profile: Profile
            let library = try options.library()
            do throws(UnknownProfile) {
                profile = try library.profile(id: id)
            } catch {
                throw Failure(.badFile, error.description)
            }
            print(try json ? JSON.text(profile) : ProfileText.lines(profile).joined(separator: "\n"))
        }
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check profiles of your own, file by file.",
            discussion: """
                EXAMPLES
                  tactus profiles check my-synth.yaml
                  tactus profiles check my-synth.yaml --json | jq '.[].mistakes'
                """)

        @Argument(help: "Files to check.", completion: .file(extensions: ["yaml"])) var files: [String]
        @Flag(help: "Print what is found as JSON.") var json = false

        func run() throws {
            let results = files.map(Result.init)
            if json {
                print(try JSON.text(results))
            } else {
                for result in results { result.tell() }
            }
            let wrong = results.count { !$0.mistakes.isEmpty }
            guard wrong == 0 else {
                throw Failure(
                    .badFile, "\(wrong) of \(files.count) \(files.count == 1 ? "file" : "files") cannot be used")
            }
        }

        /// What is found in a file.
        private struct Result: Encodable {
            var file: String
            /// The device's name; empty if the file cannot be used.
            var name = ""
            var warnings: [String] = []
            var mistakes: [FoundMistake] = []

            init(_ file: String) {
                self.file = file
                do throws(Mistakes) {
                    let profile = try Profile(contentsOf: file)
                    (name, warnings) = (profile.name, profile.warnings)
                } catch {
                    mistakes = error.all.map(FoundMistake.init)
                }
            }

            /// Prints it for people.
            func tell() {
                guard mistakes.isEmpty else { return complain(Mistakes(mistakes.map(\.mistake)).description) }
                for warning in warnings { complain("\(file): warning: \(warning)") }
                print("\(file): \(name), no mistake".withoutControls)
            }
        }
    }

    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the built-in profiles into a folder, one file each.",
            discussion: """
                To change one, copy its file to ~/.config/tactus/profiles. Copy only what you change, because a copy \
                wins over the built-in profile of every later version, too.

                EXAMPLES
                  tactus profiles export ~/tactus-profiles
                """)

        @Argument(
            help: ArgumentHelp(
                "The folder, which is created if missing. No file in it is overwritten.", valueName: "dir"),
            completion: .directory)
        var folder: String
        @Flag(help: "Print as JSON how many files were written, and how many existed already.") var json = false

        func run() throws {
            let written: Int
            do throws(ExportError) {
                written = try BuiltInProfile.export(to: folder)
            } catch {
                let status: Failure.Status =
                    switch error.code {
                    case nil: .usage
                    case EACCES, EPERM, EROFS: .noPermission
                    default: .system
                    }
                throw Failure(status, error.description.withoutControls)
            }
            let rest = BuiltInProfile.all.count - written
            guard !json else {
                return print(try JSON.text(Exported(folder: folder, written: written, unchanged: rest)))
            }
            let unchanged = rest > 0 ? ", \(rest) existed already" : ""
            print("\(written) profiles written to \(folder)\(unchanged)".withoutControls)
        }

        /// The JSON result.
        private struct Exported: Encodable {
            var folder: String
            var written, unchanged: Int
        }
    }
}
