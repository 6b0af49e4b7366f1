internal import Essentials
internal import Glibc

/// The folder of the state file; reads the file.
struct StateFolder: Sendable {
    let path: String

    var file: String { "\(path)/state.json" }

    /// Longest file that is read, in bytes; ours are far shorter.
    private static let longest = 1 << 20

    /// Reads the file.
    ///
    /// - Returns: nil if there is none.
    /// - Throws: why it cannot be read.
    func read() throws(KeptState.Unreadable) -> KeptState? {
        // Non-blocking, since the path may be a pipe.
        let descriptor = open(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            if errno == ELOOP { throw KeptState.Unreadable(reason: "it is a link, which is not followed") }
            throw KeptState.Unreadable(reason: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw KeptState.Unreadable(reason: "it is not an ordinary file")
        }
        guard let contents = try? Files.bytes(from: descriptor, atMost: Self.longest) else {
            throw KeptState.Unreadable(reason: "the disk has an error")
        }
        return try KeptState(json: contents)
    }

    /// Renames whatever is at the file's path, so that writing loses nothing.
    ///
    /// - Returns: its new path; nil if it stays, because the disk cannot be changed or all such names are taken.
    func setAside() -> String? {
        let names = (1...9).map { "\(file).unreadable-\($0)" }
        return names.first { name in
            var status = stat()
            return lstat(name, &status) < 0 && errno == ENOENT && rename(file, name) == 0
        }
    }
}
