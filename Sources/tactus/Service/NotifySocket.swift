import Essentials
import Glibc
import RealTime

/// Sends short texts to a service manager; any thread.
final class NotifySocket: Sendable {
    private let address: UnixAddress
    private let descriptor: Int32

    /// Longest wait for a manager that is busy, in microseconds.
    private static let longestWait = 100_000

    init(_ address: UnixAddress) throws(SystemCallError) {
        self.address = address
        descriptor = try checked("socket") { socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0) }
        var wait = timeval(tv_sec: 0, tv_usec: Self.longestWait)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws(SystemCallError) {
        let bytes = Array(text.utf8)
        try checked("NOTIFY_SOCKET") {
            address.withPointer { address, size in
                Int32(clamping: sendto(descriptor, bytes, bytes.count, 0, address, size))
            }
        }
    }
}
