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
            this run needs up to \(needed) open files and may have \(limit); allow more, as by 'ulimit -n \(needed)' \
            before it or by LimitNOFILE=\(needed) in its service
            """)
    }

    /// The raised limit; `Int.max` if there is none, or it is unknown.
    private static func raisedLimit() -> Int {
        let limit = clinux_raise_descriptor_limit()
        return limit < 0 ? .max : Int(limit)
    }
}
