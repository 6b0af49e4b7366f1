internal import Essentials
internal import Glibc

/// All profiles: the built-in ones, and those in folders, which take precedence.
package struct ProfileLibrary: Hashable, Sendable {
    /// Every profile in use, ordered by ID.
    package private(set) var profiles: [Profile] = []
    /// Mistakes in the files and folders that were left out.
    package private(set) var mistakes: [Mistake] = []
    /// Problems that did not exclude a file, each with its file's name.
    package private(set) var warnings: [String] = []

    /// The profiles that recognize ports; the first with a matching name wins.
    private var recognisers: [Recogniser] = []

    private struct Recogniser: Hashable, Sendable {
        var profile: Profile
        /// Index of the folder; -1 for built-in profiles.
        var folder: Int
        var names: Set<String>
    }

    /// An empty library.
    package init() {}

    /// Reads the built-in profiles and all `*.yaml` files of some folders.
    ///
    /// - Parameters:
    ///   - builtIn: built-in profiles.
    ///   - folders: of files with the same name the one in the last folder wins; files win over built-in profiles. A
    ///     missing folder is no mistake.
    ///   - followsLinks: whether a link may lead out of its folder. Not for root: whoever may write to the folder could
    ///     have it read files that they may not read themselves.
    package init(builtIn: [BuiltInProfile] = [], folders: [String], followsLinks: Bool = geteuid() != 0) {
        var found: [String: (profile: Profile, folder: Int)] = [:]
        for text in builtIn {
            if let profile = read({ () throws(Mistakes) in try Profile(text) }) { found[profile.id] = (profile, -1) }
        }
        for (index, folder) in folders.enumerated() {
            for name in read({ () throws(Mistakes) in try TextFile.names(in: folder) ?? [] }) ?? [] {
                guard let profile = profile(named: name, in: folder, followsLinks) else { continue }
                found[profile.id] = (profile, index)
            }
        }
        profiles = found.values.map(\.profile).sorted { $0.id < $1.id }
        recognisers = found.values.sorted { (-$0.folder, $0.profile.id) < (-$1.folder, $1.profile.id) }.map {
            Recogniser(profile: $0.profile, folder: $0.folder, names: Set($0.profile.match.map(\.asPortName)))
        }
        warnings += overlaps
    }

    private mutating func profile(named name: String, in folder: String, _ followsLinks: Bool) -> Profile? {
        let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
        guard name.hasSuffix(".yaml") else {
            if name.hasSuffix(".yml") { warnings.append("\(path): not read; rename it to end in .yaml") }
            return nil
        }
        return read { () throws(Mistakes) in
            if followsLinks { return try Profile(contentsOf: path) }
            return try Profile(yaml: try TextFile.bytes(of: path, within: folder), file: path)
        }
    }

    /// The value read; nil after recording the mistakes that prevent it.
    private mutating func read<Value>(_ value: () throws(Mistakes) -> Value) -> Value? {
        do throws(Mistakes) {
            return try value()
        } catch {
            mistakes += error.all
            return nil
        }
    }

    /// Profiles of one folder that claim the same port name; across folders this is how users replace one.
    private var overlaps: [String] {
        var overlaps: [String] = []
        for (index, later) in recognisers.enumerated() {
            for earlier in recognisers[..<index] where earlier.folder == later.folder {
                for name in earlier.names.intersection(later.names).sorted() {
                    let ids = "'\(earlier.profile.id)' and '\(later.profile.id)'"
                    overlaps.append("the profiles \(ids) both match '\(name)'; the first is used")
                }
            }
        }
        return overlaps
    }
}

extension ProfileLibrary {
    /// The profile with a given ID.
    ///
    /// - Parameter id: its file's name without `.yaml`.
    /// - Returns: the profile.
    /// - Throws: when there is none.
    package func profile(id: String) throws(UnknownProfile) -> Profile {
        if let profile = profiles.first(where: { $0.id == id }) { return profile }
        throw UnknownProfile(id: id, nearest: NearestWord.to(id, among: profiles.map(\.id)))
    }

    /// The profile that recognizes a port.
    ///
    /// The last folder is searched first and the built-in profiles last; in each, the port's name counts before its
    /// client's. Case-insensitive, and spaces around names are ignored.
    ///
    /// - Parameters:
    ///   - portName: of the port.
    ///   - clientName: of its client.
    /// - Returns: nil if no profile matches.
    package func profile(portName: String, clientName: String) -> Profile? {
        let (port, client) = (portName.asPortName, clientName.asPortName)
        let names = [port, client, "\(client):\(port)"]
        for folder in Set(recognisers.map(\.folder)).sorted(by: >) {
            let asked = recognisers.filter { $0.folder == folder }
            for name in names {
                if let found = asked.first(where: { $0.names.contains(name) }) { return found.profile }
            }
        }
        return nil
    }
}

/// No profile has the requested ID.
package struct UnknownProfile: Error, Hashable, Sendable, CustomStringConvertible {
    package var id: String
    /// The most similar ID, if there is one.
    package var nearest: String?

    /// What is wrong and how to fix it, as a clause.
    package var description: String {
        let advice = nearest.map { "did you mean '\($0)'?" } ?? "'tactus profiles list' names them all"
        return "there is no profile \(id.inQuotes); \(advice)"
    }
}

extension String {
    /// A port's name in the form used for comparison.
    fileprivate var asPortName: String { trimmed.lowercased() }
}
