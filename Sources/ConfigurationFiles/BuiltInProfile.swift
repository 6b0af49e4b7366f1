internal import Glibc
internal import RealTime

/// A profile that is built into the program, as the text of its file.
///
/// The build creates ``all`` of them from the folder `Profiles`: see `Packaging/embed-profiles`.
package struct BuiltInProfile: Hashable, Sendable {
    /// The name of its file without `.yaml`.
    package let id: String
    /// The contents of its file, byte for byte.
    package let text: String

    /// The built-in profile with an ID; nil if there is none.
    package static func named(_ id: String) -> BuiltInProfile? { all.first { $0.id == id } }

    fileprivate var fileName: String { "\(id).yaml" }
}

extension BuiltInProfile {
    /// Writes all built-in profiles into a folder, as the files they were made from.
    ///
    /// - Parameter folder: created if missing; its parent must exist.
    /// - Returns: number of files written; identical ones are skipped.
    /// - Throws: when a file with one of their names has other contents, and nothing is written then; or when the
    ///   system refuses.
    package static func export(to folder: String) throws(ExportError) -> Int {
        if mkdir(folder, 0o755) != 0, errno != EEXIST { throw ExportError(folder, errno) }
        var missing: [BuiltInProfile] = []
        var different: [String] = []
        for profile in all {
            let path = "\(folder)/\(profile.fileName)"
            var status = stat()
            if lstat(path, &status) == 0 {
                let old = try? TextFile.bytes(of: path)
                if old?.elementsEqual(profile.text.utf8) != true { different.append(profile.fileName) }
            } else if errno == ENOENT {
                missing.append(profile)
            } else {
                throw ExportError(folder, errno)
            }
        }
        guard different.isEmpty else { throw ExportError(folder, different: different) }
        for profile in missing {
            let path = "\(folder)/\(profile.fileName)"
            do throws(SystemCallError) {
                try TextFile.create(path, Array(profile.text.utf8))
            } catch {
                throw ExportError(path, error.code)
            }
        }
        return missing.count
    }
}

/// Why profiles were not exported.
package struct ExportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The value of errno; nil if files are in the way.
    package let code: Int32?
    /// What is wrong and how to fix it, as a clause.
    package let description: String

    fileprivate init(_ path: String, _ code: Int32) {
        self.code = code
        description = "\(path) cannot be written: \(String(cString: strerror(code)))"
    }

    fileprivate init(_ folder: String, different: [String]) {
        code = nil
        let shown = different.prefix(3).joined(separator: ", ")
        let rest = different.count > 3 ? " and \(different.count - 3) more" : ""
        description =
            "nothing is written: \(shown)\(rest) in \(folder) \(different.count == 1 ? "differs" : "differ") from what "
            + "would be written; name an empty folder"
    }
}
