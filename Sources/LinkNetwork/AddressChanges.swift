internal import CLinux
internal import Glibc

/// Tells when an address or interface of this machine appears, disappears or changes.
struct AddressChanges: ~Copyable {
    /// Readable when something changed.
    ///
    /// Negative if it could not be opened; `poll` ignores that.
    let descriptor = clinux_address_changes()

    /// Most messages read in one call; the descriptor stays readable while there are more.
    private static let bound = 64

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether anything has changed since the last call.
    ///
    /// The caller has to list the addresses to see what.
    func take() -> Bool {
        var hasChanges = false
        var byte: UInt8 = 0
        for _ in 0..<Self.bound {
            // The message's content is not needed. ENOBUFS means that messages were lost, so something changed.
            guard recv(descriptor, &byte, 1, 0) >= 0 || errno == ENOBUFS else { break }
            hasChanges = true
        }
        return hasChanges
    }
}
