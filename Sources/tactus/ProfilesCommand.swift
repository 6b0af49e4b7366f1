import ArgumentParser
import DeviceProfiles
import Essentials
import Glibc

struct ProfilesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profiles", abstract: "List, show and check profiles: what is known of devices.",
        discussion: """
            A profile says how a device wants to be driven. Those that came with Tactus are joined by your own in \
            ~/.config/tactus/profiles, which win.
            """,
        subcommands: [List.self, Show.self, Check.self])

    /// Where profiles are looked for.
    struct LibraryOptions: ParsableArguments {
        @Option(help: ArgumentHelp("One more folder of profiles. Repeatable.", valueName: "dir"))
        var profiles: [String] = []

        /// All profiles; what is wrong with those left out goes to stderr.
        var library: ProfileLibrary {
            let library = ProfileLibrary(folders: Folders.profiles + profiles)
            for mistake in library.mistakes { complain("\(mistake)") }
            return library
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all profiles.")

        @OptionGroup var options: LibraryOptions
        @Flag(help: "Print the profiles as JSON.") var json = false

        func run() throws {
            let profiles = options.library.profiles
            guard !json else { return print(try JSON.text(profiles)) }
            let width = (profiles.map(\.id.count).max() ?? 0) + 2
            for profile in profiles {
                let names = profile.match.isEmpty ? "" : " (\(profile.match.joined(separator: ", ")))"
                print("\(profile.id.padded(to: width))\(profile.name)\(names)".withoutControls)
            }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show what a profile says.")

        @Argument(help: ArgumentHelp("As 'tactus profiles list' names it.", valueName: "name")) var id: String
        @OptionGroup var options: LibraryOptions
        @Flag(help: "Print the profile as JSON.") var json = false

        func run() throws {
            let profile: Profile
            do throws(UnknownProfile) {
                profile = try options.library.profile(id: id)
            } catch {
                throw Failure(.badFile, error.description)
            }
            print(try json ? JSON.text(profile) : ProfileText.lines(profile).joined(separator: "\n"))
        }
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Check profiles of your own, file by file.")

        @Argument(help: "Files to check.", completion: .file(extensions: ["yaml"])) var files: [String]

        func run() throws {
            var wrong = 0
            for file in files {
                do throws(Mistakes) {
                    let profile = try Profile(contentsOf: file)
                    for warning in profile.warnings { complain("\(file): warning: \(warning)") }
                    print("\(file): \(profile.name), no mistake".withoutControls)
                } catch {
                    wrong += 1
                    complain(error.description)
                }
            }
            guard wrong == 0 else {
                throw Failure(
                    .badFile, "\(wrong) of \(files.count) \(files.count == 1 ? "file" : "files") cannot be used")
            }
        }
    }
}

/// Writes lines to stderr.
private func complain(_ text: String) {
    let clean = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).withoutControls }
    write("\(clean.joined(separator: "\n"))\n", to: STDERR_FILENO)
}
