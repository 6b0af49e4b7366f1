internal import Essentials
internal import Glibc

/// The folder of the state file, for one run at a time; reads the file.
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

    /// Takes the folder for this run, until the descriptor is closed; creates it if missing.
    ///
    /// - Returns: a descriptor; nil if the disk refuses or knows no locks, so that another run would not be noticed.
    /// - Throws: when another run has taken it.
    func take() throws(Taken) -> Int32? {
        try? WholeFile.makeFolder(path)
        let lock = "\(path)/state.lock"
        let descriptor = open(lock, O_RDONLY | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return descriptor }
        let isTaken = errno == EWOULDBLOCK
        close(descriptor)
        if isTaken { throw Taken(folder: path, run: FileLocks.holder(ofFileAt: lock)?.process) }
        return nil
    }

    /// Another run keeps its state in the folder.
    struct Taken: Error, CustomStringConvertible {
        var folder: String
        /// Its process; nil if unknown.
        var run: Int?

        var description: String {
            "another run of Tactus\(run.map { " (pid \($0))" } ?? "") keeps its own in \(folder)"
        }
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
