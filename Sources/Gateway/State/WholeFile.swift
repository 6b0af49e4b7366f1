internal import Essentials
internal import Glibc
package import RealTime

/// Writes files that are complete at any moment, even if the power fails.
///
/// A new version is written beside the old one, forced to the disk, and then renamed. The writer holds the folder's
/// lock, so that two programs do not mix their drafts.
package enum WholeFile {
    /// Replaces a file, keeping its owner and permissions; creates it and its folder if missing.
    ///
    /// - Parameters:
    ///   - path: of the file itself; a link would be replaced.
    ///   - contents: the whole new contents.
    /// - Throws: when the disk refuses; the old file is unchanged then.
    package static func replace(_ path: String, with contents: [UInt8]) throws(SystemCallError) {
        let folder = Files.folder(of: path)
        try makeFolder(folder)
        let descriptor = try checked("open \(folder)") { open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { close(descriptor) }
        // The result is ignored, because some network disks have no locks.
        flock(descriptor, LOCK_EX)
        let draft = "\(path).new"
        do throws(SystemCallError) {
            try write(contents, to: draft, like: path)
            try checked("rename \(draft)") { rename(draft, path) }
        } catch {
            unlink(draft)
            throw error
        }
        // The new name must reach the disk too.
        try checked("fsync \(folder)") { fsync(descriptor) }
    }

    private static func write(_ contents: [UInt8], to draft: String, like old: String) throws(SystemCallError) {
        // Whatever is there, such as the rest of a killed program, a link or a pipe, is neither followed nor waited for.
        unlink(draft)
        let descriptor = try checked("open \(draft)") { open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644) }
        defer { close(descriptor) }
        var status = stat()
        if stat(old, &status) == 0 {
            try checked("fchmod \(draft)") { fchmod(descriptor, status.st_mode & 0o777) }
            // Only root can give files away, and must: otherwise the owner could no longer change the file.
            if geteuid() == 0 { _ = fchown(descriptor, status.st_uid, status.st_gid) }
        }
        let written = contents.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard written == contents.count else {
            throw SystemCallError(operation: "write \(draft)", code: written < 0 ? errno : ENOSPC)
        }
        try checked("fsync \(draft)") { fsync(descriptor) }
    }

    /// Creates a folder and all missing parents.
    static func makeFolder(_ path: String) throws(SystemCallError) {
        guard access(path, F_OK) != 0 else { return }
        let above = Files.folder(of: path)
        if above != path { try makeFolder(above) }
        try checked("mkdir \(path)") { mkdir(path, 0o755) }
    }
}
