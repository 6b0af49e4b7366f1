import Glibc
import RealTime

/// The address of a service manager's socket: a path, or `@` and a name without a file.
struct NotifyAddress: Hashable {
    private let text: [UInt8]

    /// The longest address, in bytes; the kernel's structure has one more, for the end of a path.
    private static let longest = 107

    init?(_ text: String) {
        self.text = Array(text.utf8)
        guard text.hasPrefix("/") || text.hasPrefix("@"), 2...Self.longest ~= self.text.count else { return nil }
    }

    /// Calls `body` with a pointer to the address, in the form that system calls take, and its size.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>?, socklen_t) -> Result) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: text)
            // A first byte of zero stands for a name without a file.
            if path[0] == UInt8(ascii: "@") { path[0] = 0 }
        }
        let size = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path) + text.count
        return withUnsafeBytes(of: address) {
            body($0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(size))
        }
    }
}

/// Sends short texts to a service manager; any thread.
final class NotifySocket: Sendable {
    private let address: NotifyAddress
    private let descriptor: Int32

    /// Longest wait for a manager that is busy, in microseconds.
    private static let longestWait = 100_000

    init(_ address: NotifyAddress) throws(SystemCallError) {
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
