internal import Essentials
internal import Glibc

/// The folder that holds the state's file, and how that file is read.
struct StateFolder: Sendable {
    let path: String

    var file: String { "\(path)/state.json" }

    /// Longer files are none of ours.
    private static let longest = 1 << 20

    /// Reads the file.
    ///
    /// - Returns: nil where there is none.
    /// - Throws: why what is there says nothing.
    func read() throws(KeptState.Unreadable) -> KeptState? {
        // Without waiting: what lies there may be a pipe.
        let descriptor = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw KeptState.Unreadable(reason: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw KeptState.Unreadable(reason: "it is no file")
        }
        guard let contents = try? Files.bytes(from: descriptor, atMost: Self.longest) else {
            throw KeptState.Unreadable(reason: "the disk does not give it")
        }
        return try KeptState(json: contents)
    }

    /// Gives what lies in the file's place another name, so that nothing is lost by writing.
    ///
    /// - Returns: where it is now; nil if it stays, because the disk takes no change or there is too much of that kind.
    func setAside() -> String? {
        let names = (1...9).map { "\(file).unreadable-\($0)" }
        return names.first { name in
            var status = stat()
            return lstat(name, &status) < 0 && errno == ENOENT && rename(file, name) == 0
        }
    }
}
