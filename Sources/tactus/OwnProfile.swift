import ConfigurationFiles
import Essentials
import Gateway
import GatewayStatus
import MIDIClock

/// A user's own profile that replaces the present one, with another offset.
struct OwnProfile {
    let id: String
    private let name: String
    private let port: String?
    private let folder: String?
    private let library: ProfileLibrary

    /// The profile in use at an output, or a new one for it.
    ///
    /// - Parameters:
    ///   - output: as the gateway shows it.
    ///   - port: name of its device's port, by which a new profile recognizes it.
    ///   - folders: more folders of profiles. It goes into the last, since a profile there wins over all others.
    init(for output: Status.Output, recognisedBy port: String?, adding folders: [String] = []) {
        self.init(
            id: output.profile ?? output.id, name: output.name, port: port,
            folder: folders.last.map(Files.target(of:)) ?? Folders.ownProfiles,
            library: ProfileLibrary(adding: folders))
    }

    init(id: String, name: String, port: String?, folder: String?, library: ProfileLibrary) {
        self.id = id
        self.name = name
        self.port = port
        self.folder = folder
        self.library = library
    }

    /// Writes the profile, completely or not at all.
    ///
    /// - Parameter offset: milliseconds.
    /// - Returns: its path.
    /// - Throws: when there is no place for it, or its file cannot be changed safely.
    func keep(offset: Double) throws(Failure) -> String {
        // The ID comes from the gateway, which may be someone else's.
        guard !id.contains("/"), !id.hasPrefix(".") else {
            throw Failure(.badFile, "\(id.withoutControls) cannot be the name of a profile, so nothing was saved")
        }
        guard let folder else { throw Failure(.system, "there is no home folder for a profile; \(Self.advice)") }
        let path = "\(folder)/\(id).yaml"
        let text = try text(offset)
        do {
            try WholeFile.replace(path, with: Array(text.utf8))
        } catch {
            throw Failure(.noPermission, "\(path) cannot be written: \(error); \(Self.advice)")
        }
        return path
    }

    private static let advice = "start the gateway with --profiles and a folder that its user may write to"

    private func text(_ offset: Double) throws(Failure) -> String {
        let known = try? library.profile(id: id)
        let old = known.flatMap { known in
            guard let file = known.file else { return BuiltInProfile.named(known.id)?.text }
            return Files.text(of: file)
        }
        let match = port.map { "match: [\(quoted($0))]\n" } ?? ""
        let text = Self.setting(offset, in: old ?? "version: 1\nname: \(quoted(name))\n\(match)")
        // In any case, the file must still mean the same except for the offset.
        var wanted = known ?? Profile(id: id, name: name)
        if known == nil { wanted.match = port.map { [$0] } ?? [] }
        wanted.settings.offset = Int64((offset * 1_000).rounded())
        guard let new = try? Profile(yaml: Array(text.utf8), file: known?.file ?? "\(id).yaml"), new.isLike(wanted)
        else {
            throw Failure(
                .badFile,
                "the profile \(id) has a form that Tactus cannot change safely; set 'offset: \(offset)' by hand")
        }
        return text
    }

    private func quoted(_ text: String) -> String {
        "\"\(text.withoutControls.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    /// A profile's text with another offset; comments and order are kept.
    static func setting(_ offset: Double, in text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let line = "offset: \(offset)"
        guard let clock = lines.firstIndex(where: { $0.hasPrefix("clock:") }) else {
            let name = lines.firstIndex { $0.hasPrefix("name:") } ?? lines.count - 1
            lines.insert(contentsOf: ["clock:", "  \(line)"], at: name + 1)
            return lines.joined(separator: "\n")
        }
        if let brace = lines[clock].firstIndex(of: "{") {
            let inside = lines[clock].index(after: brace)
            if let old = lines[clock].firstMatch(of: /\boffset:\s*[-+0-9.]+/) {
                lines[clock].replaceSubrange(old.range, with: line)
            } else {
                lines[clock].insert(contentsOf: " \(line),", at: inside)
            }
            return lines.joined(separator: "\n")
        }
        let end =
            lines[(clock + 1)...].firstIndex { !$0.isEmpty && !$0.hasPrefix(" ") && !$0.hasPrefix("#") } ?? lines.count
        for index in (clock + 1)..<end {
            if let old = lines[index].firstMatch(of: /^\s+offset:\s*[-+0-9.]+/) {
                let indent = lines[index].prefix { $0 == " " }
                lines[index].replaceSubrange(old.range, with: "\(indent)\(line)")
                return lines.joined(separator: "\n")
            }
        }
        let indent = clock + 1 < end ? String(lines[clock + 1].prefix { $0 == " " }) : ""
        lines.insert("\(indent.isEmpty ? "  " : indent)\(line)", at: clock + 1)
        return lines.joined(separator: "\n")
    }
}

extension Profile {
    /// Whether another profile has the same contents, whatever its file.
    fileprivate func isLike(_ other: Profile) -> Bool {
        name == other.name && match == other.match && settings == other.settings && input == other.input
            && notes == other.notes && pulseSettings == other.pulseSettings
    }
}
