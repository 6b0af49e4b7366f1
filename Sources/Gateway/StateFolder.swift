internal import Foundation
internal import RealTime

/// The folder that holds the state's file, and how that file is read and replaced.
///
/// The file is whole at any moment, also when the power fails: a new version is written beside it, forced to the disk,
/// and then takes its name. Who writes holds the folder's lock, so that two gateways do not mix their drafts.
struct StateFolder: Sendable {
    let path: String

    var file: String { "\(path)/state.json" }
    private var draft: String { "\(file).new" }

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
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw KeptState.Unreadable(reason: "it is no file")
        }
        guard let contents = try? handle.read(upToCount: Self.longest) ?? Data() else {
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

    /// Replaces the file; makes the folder if there is none.
    ///
    /// - Parameter contents: all that the file is to hold.
    /// - Throws: when the disk does not take it; the old file is then as it was.
    func replaceFile(with contents: Data) throws(SystemCallError) {
        try makeFolder()
        let folder = try checked("open \(path)") { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { close(folder) }
        // Some network disks know no locks; then two gateways had better not share one.
        flock(folder, LOCK_EX)
        do throws(SystemCallError) {
            try writeDraft(contents)
            try checked("rename \(draft)") { rename(draft, file) }
        } catch {
            unlink(draft)
            throw error
        }
        // The new name, too, must be on the disk.
        try checked("fsync \(path)") { fsync(folder) }
    }

    private func writeDraft(_ contents: Data) throws(SystemCallError) {
        let descriptor = try checked("open \(draft)") {
            open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o644)
        }
        defer { close(descriptor) }
        let written = contents.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard written == contents.count else {
            throw SystemCallError(operation: "write \(draft)", code: written < 0 ? errno : ENOSPC)
        }
        try checked("fsync \(draft)") { fsync(descriptor) }
    }

    private func makeFolder() throws(SystemCallError) {
        guard access(path, F_OK) != 0 else { return }
        let folders = URL(filePath: path).pathComponents.indices.dropFirst().map {
            URL(filePath: path).pathComponents[...$0].joined(separator: "/")
        }
        for folder in folders where access(folder, F_OK) != 0 {
            try checked("mkdir \(folder)") { mkdir(folder, 0o755) }
        }
    }
}
