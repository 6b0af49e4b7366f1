internal import CLinux
internal import Glibc
package import RealTime

/// Opening a device node, FIFO or serial line that carries MIDI bytes.
package enum RawLine {
    /// Which way the bytes go.
    package enum Direction: Hashable, Sendable { case reading, writing }

    /// Why a path cannot carry MIDI, as opposed to not being there yet.
    package enum OpenError: Error, Hashable, CustomStringConvertible {
        case notALine(path: String)
        case system(SystemCallError)

        package var description: String {
            switch self {
            case .notALine(let path): "\(path) is neither a device, nor a FIFO, nor a serial line"
            case .system(let error): error.description
            }
        }
    }

    /// Opens a line, without ever waiting for it.
    ///
    /// - Parameters:
    ///   - path: of a character device or FIFO.
    ///   - bitsPerSecond: the speed, if it is a serial line; other devices have none.
    ///   - direction: to write to it, or to read from it.
    /// - Returns: a descriptor that never blocks. The caller closes it.
    /// - Throws: what is wrong with the path; a FIFO to write to that nobody reads is refused by the system.
    package static func open(
        path: String, bitsPerSecond: Int, for direction: Direction
    ) throws(OpenError) -> Int32 {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .system(SystemCallError(operation: path, code: errno)) }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFCHR || kind == S_IFIFO else { throw .notALine(path: path) }
        // A FIFO that is read has its other end open here, too: writers may come and go.
        let way = direction == .writing ? O_WRONLY : kind == S_IFIFO ? O_RDWR : O_RDONLY
        let descriptor = Glibc.open(path, way | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(SystemCallError(operation: path, code: errno)) }
        if isatty(descriptor) == 1, clinux_set_raw_line(descriptor, UInt32(clamping: bitsPerSecond)) != 0 {
            let code = errno
            close(descriptor)
            throw .system(SystemCallError(operation: "\(path) at \(bitsPerSecond) bit/s", code: code))
        }
        return descriptor
    }
}
