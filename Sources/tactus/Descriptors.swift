import CLinux
import Glibc

/// The descriptors with which the program begins, and how many it may have.
enum Descriptors {
    /// Opens standard streams that were closed, so that no socket takes their numbers and receives what is printed.
    ///
    /// To write to such a stream fails, as it would have while it was closed.
    static func openClosedStreams() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) < 0 {
            _ = open("/dev/null", O_RDONLY)  // the lowest number that is free
        }
    }

    /// Raises the limit as far as it goes without asking anyone, and says whether that is far enough.
    static func areAtLeast(_ needed: Int) -> Bool { raisedLimit() >= needed }

    /// Raises the limit as far as it goes without asking anyone.
    ///
    /// - Parameter needed: how many a run opens at most.
    /// - Throws: what to do about a limit below that.
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

    /// `Int.max` where there is no limit, or nobody tells.
    private static func raisedLimit() -> Int {
        let limit = clinux_raise_descriptor_limit()
        return limit < 0 ? .max : Int(limit)
    }
}
