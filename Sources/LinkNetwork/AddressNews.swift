internal import CLinux
internal import Glibc

/// Tells when an address or an interface of this machine has come, gone or changed.
struct AddressNews: ~Copyable {
    /// To be polled for input; negative, which a poll passes over, where the system grants none.
    let descriptor = clinux_address_news()

    /// Messages taken at a time; what is left is news again.
    private static let bound = 64

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether anything has happened since this was last asked; what it was, a look at the addresses tells.
    func take() -> Bool {
        var hasNews = false
        var byte: UInt8 = 0
        for _ in 0..<Self.bound {
            // Of a message only its coming matters. Too many at once are an error, and news as well.
            guard recv(descriptor, &byte, 1, 0) >= 0 || errno == ENOBUFS else { break }
            hasNews = true
        }
        return hasNews
    }
}
