internal import CLinux
package import Essentials
internal import Glibc
package import RealTime

/// Opens device nodes, FIFOs and serial lines that carry MIDI bytes.
package enum RawLine {
    /// The direction of the bytes.
    package enum Direction: Hashable, Sendable { case reading, writing }

    /// Why a path cannot carry MIDI, other than being absent.
    package enum OpenError: Error, Hashable, CustomStringConvertible {
        case notALine(path: String)
        /// A program has locked it, as each run does while it sends there; nil if it is not known which.
        case locked(by: RunningProgram?)
        case system(SystemCallError)

        package var description: String {
            switch self {
            case .notALine(let path): "\(path) is neither a device, nor a FIFO, nor a serial line"
            case .locked(let holder?) where holder.process == getpid(): "another output of this run sends there"
            case .locked(let holder?): "'\(holder.name)' (pid \(holder.process)) sends there"
            case .locked(nil): "another program has locked it"
            case .system(let error): error.description
            }
        }
    }

    /// Opens a line, without ever blocking.
    ///
    /// One to write is locked until it is closed: of two clocks on one line a machine would make double the tempo.
    ///
    /// - Parameters:
    ///   - path: of a character device or FIFO.
    ///   - bitsPerSecond: the speed of a serial line; ignored for other devices.
    ///   - direction: reading or writing.
    /// - Returns: a non-blocking descriptor. The caller closes it.
    /// - Throws: what is wrong with the path. The system refuses to write to a FIFO without a reader.
    package static func open(
        path: String, bitsPerSecond: Int, for direction: Direction
    ) throws(OpenError) -> Int32 {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .system(SystemCallError(operation: path, code: errno)) }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFCHR || kind == S_IFIFO else { throw .notALine(path: path) }
        // A FIFO to read is opened for writing as well, so that writers may come and go.
        let way = direction == .writing ? O_WRONLY : kind == S_IFIFO ? O_RDWR : O_RDONLY
        let descriptor = Glibc.open(path, way | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(SystemCallError(operation: path, code: errno)) }
        // First, since whoever has it has set its speed. Where locks are unknown, it is used without one.
        if direction == .writing, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            close(descriptor)
            throw .locked(by: FileLocks.holder(ofFileAt: path))
        }
        if isatty(descriptor) == 1, clinux_set_raw_line(descriptor, UInt32(clamping: bitsPerSecond)) != 0 {
            let code = errno
            close(descriptor)
            throw .system(SystemCallError(operation: "\(path) at \(bitsPerSecond) bit/s", code: code))
        }
        return descriptor
    }

    /// The other run of this program that sends to a line; nil if there is none, or it is not known.
    package static func otherRun(sendingTo path: String) -> RunningProgram? {
        guard let holder = FileLocks.holder(ofFileAt: path), holder.process != getpid(),
            holder.name == SystemTree(root: "/").line("proc/self/comm")
        else { return nil }
        return holder
    }
}
