package import Glibc

/// The address of a Unix socket: a path, or `@` and a name without a file.
package struct UnixAddress: Hashable, Sendable {
    private let text: [UInt8]

    /// The longest address, in bytes; the kernel's structure has one more, for the end of a path.
    private static let longest = 107

    package init?(_ text: String) {
        self.text = Array(text.utf8)
        guard text.hasPrefix("/") || text.hasPrefix("@"), 2...Self.longest ~= self.text.count else { return nil }
    }

    /// Calls `body` with a pointer to the address, in the form that system calls take, and its size.
    package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>?, socklen_t) -> Result) -> Result {
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
