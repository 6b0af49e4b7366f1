internal import Essentials
internal import Glibc
internal import RealTime

/// A Unix socket by which commands on the same computer reach a gateway; its file's permissions say who may use it.
package struct ControlSocket: Hashable, Sendable {
    package let path: String
    /// Whether its group may use it, too, and not its owner only.
    package let isForGroup: Bool

    package init(path: String, isForGroup: Bool) {
        self.path = path
        self.isForGroup = isForGroup
    }

    /// Descriptors that a server of it opens besides its connections.
    static let descriptorsNeeded = 2
    /// Most connections at once.
    static let mostConnections = 32

    /// Lets those use it who may, once the server listens.
    func open() throws(SystemCallError) {
        try checked("chmod \(path)") { chmod(path, isForGroup ? 0o660 : 0o600) }
    }
}

/// The right to a ``ControlSocket``'s path, which one run has at a time.
///
/// It is a lock on a file beside the socket. The server removes what a run that has ended left at the path, and it does so
/// only under that lock, so that no run ever removes the socket of another.
final class ControlSocketLock: Sendable {
    private let socket: ControlSocket
    private let descriptor: Int32

    /// Takes the path; makes its folder if necessary, for this user only.
    ///
    /// - Throws: why that cannot be; with `EWOULDBLOCK`, another run has it.
    init(_ socket: ControlSocket) throws(SystemCallError) {
        self.socket = socket
        let folder = Files.folder(of: socket.path)
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw SystemCallError(operation: "mkdir \(folder)", code: errno)
        }
        // In a folder of somebody else, what is at the path could be theirs at any time.
        var found = stat()
        try checked("lstat \(folder)") { lstat(folder, &found) }
        guard found.st_mode & S_IFMT == S_IFDIR, found.st_uid == geteuid(), found.st_mode & 0o022 == 0 else {
            throw SystemCallError(operation: "folder \(folder)", code: EPERM)
        }
        let file = "\(socket.path).lock"
        let opened = try checked("open \(file)") {
            open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        }
        do throws(SystemCallError) {
            try checked("flock \(file)") { flock(opened, LOCK_EX | LOCK_NB) }
        } catch {
            close(opened)
            throw error
        }
        descriptor = opened
    }

    deinit {
        // Anything else at the path is somebody's, and the reason why there was no server.
        var found = stat()
        if lstat(socket.path, &found) == 0, found.st_mode & S_IFMT == S_IFSOCK { unlink(socket.path) }
        close(descriptor)
    }
}
