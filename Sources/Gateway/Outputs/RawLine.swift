internal import CLinux
internal import Glibc
package import RealTime

/// Opens device nodes, FIFOs and serial lines that carry MIDI bytes.
package enum RawLine {
    /// The direction of the bytes.
    package enum Direction: Hashable, Sendable { case reading, writing }

    /// Why a path cannot carry MIDI, other than being absent.
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

    /// Opens a line, without ever blocking.
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
        if isatty(descriptor) == 1, clinux_set_raw_line(descriptor, UInt32(clamping: bitsPerSecond)) != 0 {
            let code = errno
            close(descriptor)
            throw .system(SystemCallError(operation: "\(path) at \(bitsPerSecond) bit/s", code: code))
        }
        return descriptor
    }
}
