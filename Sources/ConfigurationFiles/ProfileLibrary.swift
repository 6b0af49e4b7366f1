internal import Essentials

/// All profiles there are: those built into the program, and those in folders, which win.
package struct ProfileLibrary: Hashable, Sendable {
    /// Every profile in force, in the order of their IDs.
    package private(set) var profiles: [Profile] = []
    /// What is wrong with the files and folders left out.
    package private(set) var mistakes: [Mistake] = []
    /// What is strange about the folders and yet no reason to leave a file out, each with the file it is about.
    package private(set) var warnings: [String] = []

    /// The profiles by which ports are recognised; the first that knows a name wins.
    private var recognisers: [Recogniser] = []

    private struct Recogniser: Hashable, Sendable {
        var profile: Profile
        /// Counted from 0; -1 stands for the program itself.
        var folder: Int
        var names: Set<String>
    }

    /// No profiles.
    package init() {}

    /// Reads the built-in profiles and every `*.yaml` of some folders.
    ///
    /// - Parameters:
    ///   - builtIn: profiles that are built into the program.
    ///   - folders: of two files with the same name the later folder's counts, and each counts before what is built in. A
    ///     folder that does not exist is no mistake.
    package init(builtIn: [BuiltInProfile] = [], folders: [String]) {
        var found: [String: (profile: Profile, folder: Int)] = [:]
        for text in builtIn {
            if let profile = read({ () throws(Mistakes) in try Profile(text) }) { found[profile.id] = (profile, -1) }
        }
        for (index, folder) in folders.enumerated() {
            for name in read({ () throws(Mistakes) in try TextFile.names(in: folder) ?? [] }) ?? [] {
                guard let profile = profile(named: name, in: folder) else { continue }
                found[profile.id] = (profile, index)
            }
        }
        profiles = found.values.map(\.profile).sorted { $0.id < $1.id }
        recognisers = found.values.sorted { (-$0.folder, $0.profile.id) < (-$1.folder, $1.profile.id) }.map {
            Recogniser(profile: $0.profile, folder: $0.folder, names: Set($0.profile.match.map(\.asPortName)))
        }
        warnings += overlaps
    }

    private mutating func profile(named name: String, in folder: String) -> Profile? {
        let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
        guard name.hasSuffix(".yaml") else {
            if name.hasSuffix(".yml") { warnings.append("\(path): not read; a profile's name ends in .yaml") }
            return nil
        }
        return read { () throws(Mistakes) in try Profile(contentsOf: path) }
    }

    /// What is read; nil once the mistakes that prevent it are noted.
    private mutating func read<Value>(_ value: () throws(Mistakes) -> Value) -> Value? {
        do throws(Mistakes) {
            return try value()
        } catch {
            mistakes += error.all
            return nil
        }
    }

    /// Profiles of one folder that claim the same name; between folders that is how users replace one.
    private var overlaps: [String] {
        var overlaps: [String] = []
        for (index, later) in recognisers.enumerated() {
            for earlier in recognisers[..<index] where earlier.folder == later.folder {
                for name in earlier.names.intersection(later.names).sorted() {
                    overlaps.append(
                        "'\(name)' is matched by '\(earlier.profile.id)' and '\(later.profile.id)'; the first is taken")
                }
            }
        }
        return overlaps
    }
}

extension ProfileLibrary {
    /// The profile a user names.
    ///
    /// - Parameter id: the name of its file without `.yaml`.
    /// - Returns: the profile.
    /// - Throws: when there is none.
    package func profile(id: String) throws(UnknownProfile) -> Profile {
        if let profile = profiles.first(where: { $0.id == id }) { return profile }
        throw UnknownProfile(id: id, nearest: NearestWord.to(id, among: profiles.map(\.id)))
    }

    /// The profile that recognises a port.
    ///
    /// The last folder is asked first and the built-in profiles last, and in each the port's own name counts before its
    /// client's. Case and the spaces that drivers put around names do not count.
    ///
    /// - Parameters:
    ///   - portName: of the port.
    ///   - clientName: of the client it belongs to.
    /// - Returns: nil if no profile names it.
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

/// No profile has the ID that somebody asked for.
package struct UnknownProfile: Error, Hashable, Sendable, CustomStringConvertible {
    package var id: String
    /// The ID that differs least from it, if that is little.
    package var nearest: String?

    /// What is wrong and what would be right, as a clause.
    package var description: String {
        let advice = nearest.map { "did you mean '\($0)'?" } ?? "'tactus profiles list' names them all"
        return "there is no profile \(id.inQuotes); \(advice)"
    }
}

extension String {
    /// What counts of a port's name.
    fileprivate var asPortName: String { trimmed.lowercased() }
}
