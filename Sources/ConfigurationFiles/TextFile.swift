internal import CLinux
internal import Essentials
internal import Glibc
internal import RealTime

/// Reads files without waiting for pipes or filling memory, and writes them completely or not at all.
enum TextFile {
    /// The contents of an ordinary file; of one that is too long, only enough to detect that.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - folder: if given, no link may lead out of it.
    /// - Returns: its bytes.
    /// - Throws: when it cannot be read, or lies outside of the folder.
    static func bytes(of path: String, within folder: String? = nil) throws(Mistakes) -> [UInt8] {
        let place = Place.whole(path)
        // What is at the path may change at any time. So the file is held first, which neither waits for a pipe nor wakes
        // a device, then examined, and then that same file is read.
        let held = clinux_hold_file(path)
        guard held >= 0 else { throw Mistakes(place, reason(path, errno)) }
        defer { close(held) }
        if let folder, !isInside(held, folder) {
            throw Mistakes(
                place, "this is a link out of the folder, which root does not follow; put the file itself here")
        }
        var status = stat()
        guard fstat(held, &status) == 0, status.isFile else { throw Mistakes(place, "this is not an ordinary file") }
        do throws(SystemCallError) {
            return try Files.bytes(of: Files.path(of: held), atMost: SourceText.longest + 1)
        } catch {
            throw Mistakes(place, reason(path, error.code))
        }
    }

    /// Whether a file that is held is below a folder.
    private static func isInside(_ held: Int32, _ folder: String) -> Bool {
        let home = Files.target(of: folder)
        return Files.link(Files.path(of: held))?.hasPrefix(home.hasSuffix("/") ? home : home + "/") == true
    }

    private static func reason(_ path: String, _ code: Int32) -> String {
        var status = stat()
        return switch code {
        case ENOENT where lstat(path, &status) == 0: "this is a link to a file that does not exist"
        case ENOENT, ENOTDIR: "there is no such file"
        case EACCES: "there is no permission to read this file"
        default: "this file cannot be read: \(String(cString: strerror(code)))"
        }
    }

    /// Writes a new file; removes it again if it cannot be written completely.
    static func create(_ path: String, _ bytes: [UInt8]) throws(SystemCallError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw SystemCallError(operation: "open", code: errno) }
        let written = write(descriptor, bytes, bytes.count)
        var code = written == bytes.count ? 0 : written < 0 ? errno : ENOSPC
        // Some disks report only now that they are full.
        if close(descriptor) != 0, code == 0 { code = errno }
        guard code != 0 else { return }
        unlink(path)
        throw SystemCallError(operation: "write", code: code)
    }

    /// The sorted names of a folder's files without hidden ones; nil if there is no such folder.
    static func names(in folder: String) throws(Mistakes) -> [String]? {
        guard Files.exists(folder) else { return nil }
        let place = Place.whole(folder)
        guard Files.isFolder(folder) else {
            throw Mistakes(place, "profiles are kept in a folder; this is a file")
        }
        guard access(folder, R_OK) == 0 else { throw Mistakes(place, "there is no permission to read this folder") }
        return Files.names(in: folder).filter { !$0.hasPrefix(".") }
    }
}

extension stat {
    fileprivate var isFile: Bool { st_mode & S_IFMT == S_IFREG }
}
