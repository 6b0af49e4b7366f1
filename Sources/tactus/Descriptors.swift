import CLinux
import Glibc

/// The program's standard streams, and its limit of descriptors.
enum Descriptors {
    /// Opens standard streams that were closed.
    ///
    /// Otherwise a socket could get their numbers and receive what is printed. Writing to such a stream fails, as it
    /// would have while it was closed.
    static func openClosedStreams() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) < 0 {
            _ = open("/dev/null", O_RDONLY)  // the lowest number that is free
        }
    }

    /// Raises the limit as far as allowed; true if that is enough.
    static func areAtLeast(_ needed: Int) -> Bool { raisedLimit() >= needed }

    /// Raises the limit as far as allowed.
    ///
    /// - Parameter needed: most descriptors that a run opens.
    /// - Throws: how to raise a limit that is too low.
    static func require(_ needed: Int) throws(Failure) {
        let limit = raisedLimit()
        guard limit < needed else { return }
        throw Failure(
            .system,
            """
            this run may need \(needed) open files, and the limit is \(limit); raise it with 'ulimit -n \(needed)' \
            before the start, or with LimitNOFILE=\(needed) in the service
            """)
    }

    /// The raised limit; `Int.max` if there is none, or it is unknown.
    private static func raisedLimit() -> Int {
        let limit = clinux_raise_descriptor_limit()
        return limit < 0 ? .max : Int(limit)
    }
}
