internal import CLinux
internal import Glibc
internal import RealTime

/// Opening a device node, FIFO or serial line to write MIDI bytes to.
enum RawLine {
    /// Why a path cannot be an output, as opposed to not being there yet.
    enum Refusal: Error, Hashable, CustomStringConvertible {
        case notALine(path: String)
        case system(SystemCallError)

        var description: String {
            switch self {
            case .notALine(let path): "\(path) is neither a device, nor a FIFO, nor a serial line"
            case .system(let error): error.description
            }
        }
    }

    /// Opens a line for writing, without ever waiting for it.
    ///
    /// - Parameters:
    ///   - path: of a character device or FIFO.
    ///   - bitsPerSecond: the speed, if it is a serial line; other devices have none.
    /// - Returns: a descriptor that never blocks. The caller closes it.
    /// - Throws: what is wrong with the path; a FIFO that nobody reads is refused by the system.
    static func open(path: String, bitsPerSecond: Int) throws(Refusal) -> Int32 {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .system(SystemCallError(operation: path, code: errno)) }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFCHR || kind == S_IFIFO else { throw .notALine(path: path) }
        let descriptor = Glibc.open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(SystemCallError(operation: path, code: errno)) }
        if isatty(descriptor) == 1, clinux_set_raw_line(descriptor, UInt32(clamping: bitsPerSecond)) != 0 {
            let code = errno
            close(descriptor)
            throw .system(SystemCallError(operation: "\(path) at \(bitsPerSecond) bit/s", code: code))
        }
        return descriptor
    }
}
