import Essentials
import Gateway
import Glibc

/// A file that a report is written into.
struct ReportFile: Hashable {
    let path: String

    init(argument: String) throws(BadArgument) {
        guard !argument.isEmpty else { throw BadArgument("name a file, such as report.md") }
        // A link stays, and what it leads to is written.
        path = Files.target(of: argument)
        switch Files.kind(of: path) {
        case .folder: throw BadArgument("\(argument) is a folder; name a file in it, such as \(argument)/report.md")
        case .byteStream: throw BadArgument("\(argument) is not an ordinary file")
        case .other, nil: break
        }
        let folder = Files.folder(of: path)
        guard Files.isFolder(folder) else { throw BadArgument("there is no folder \(folder)") }
    }

    /// Checks that the file can probably be written, before a minute is spent on measuring.
    ///
    /// - Throws: if its folder cannot be written to.
    func requireWritable() throws(Failure) {
        guard access(Files.folder(of: path), W_OK) != 0 else { return }
        let code = errno
        throw Failure(
            [EACCES, EROFS, EPERM].contains(code) ? .noPermission : .system,
            "no report at \(path): \(String(cString: strerror(code)))")
    }

    /// Writes the whole file, or nothing.
    func write(_ text: String) throws(Failure) {
        do {
            try WholeFile.replace(path, with: Array(text.utf8))
        } catch {
            throw Failure(.system, "no report at \(path): \(error)")
        }
    }
}
