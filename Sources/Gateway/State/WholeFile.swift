internal import Essentials
internal import Glibc
package import RealTime

/// Writing files that are whole at any moment, also when the power fails.
///
/// A new version is written beside the old one, forced to the disk, and then takes its name. Who writes holds the folder's
/// lock, so that two programs do not mix their drafts.
package enum WholeFile {
    /// Replaces a file, which keeps its owner and rights; makes it, and its folder, if there is none.
    ///
    /// - Parameters:
    ///   - path: the file's own; a link would be replaced.
    ///   - contents: all that the file is to hold.
    /// - Throws: when the disk does not take it; the old file is then as it was.
    package static func replace(_ path: String, with contents: [UInt8]) throws(SystemCallError) {
        let folder = Files.folder(of: path)
        try makeFolder(folder)
        let descriptor = try checked("open \(folder)") { open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { close(descriptor) }
        // Some network disks know no locks; there two programs had better not write the same file.
        flock(descriptor, LOCK_EX)
        let draft = "\(path).new"
        do throws(SystemCallError) {
            try write(contents, to: draft, like: path)
            try checked("rename \(draft)") { rename(draft, path) }
        } catch {
            unlink(draft)
            throw error
        }
        // The new name, too, must be on the disk.
        try checked("fsync \(folder)") { fsync(descriptor) }
    }

    private static func write(_ contents: [UInt8], to draft: String, like old: String) throws(SystemCallError) {
        let descriptor = try checked("open \(draft)") {
            open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o644)
        }
        defer { close(descriptor) }
        var status = stat()
        if stat(old, &status) == 0 {
            try checked("fchmod \(draft)") { fchmod(descriptor, status.st_mode & 0o777) }
            // Only root may give files away, and should: else its owner could not change it any more.
            if geteuid() == 0 { _ = fchown(descriptor, status.st_uid, status.st_gid) }
        }
        let written = contents.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard written == contents.count else {
            throw SystemCallError(operation: "write \(draft)", code: written < 0 ? errno : ENOSPC)
        }
        try checked("fsync \(draft)") { fsync(descriptor) }
    }

    /// Makes a folder and all above it that are missing.
    private static func makeFolder(_ path: String) throws(SystemCallError) {
        guard access(path, F_OK) != 0 else { return }
        let above = Files.folder(of: path)
        if above != path { try makeFolder(above) }
        try checked("mkdir \(path)") { mkdir(path, 0o755) }
    }
}
