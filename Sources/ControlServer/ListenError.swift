internal import Essentials
internal import Glibc

/// Why an address could not be used, with the fix.
package struct ListenError: Error, Hashable, Sendable, CustomStringConvertible {
    package var address: HTTPAddress
    /// The value of errno.
    package var code: Int32
    /// How to fix it.
    package var advice = "choose another address with --http ADDRESS:PORT, or use none with --no-http"
    /// The programs that have the address, as far as they are visible, such as `nginx (process 812)`; empty if unknown.
    package var holders = ""

    /// An error of a server that uses a protocol.
    init(_ address: HTTPAddress, code: Int32, _ transport: PortHolders.Transport) {
        self.address = address
        self.code = code
        guard code == EADDRINUSE, let port = UInt16(exactly: address.port) else { return }
        holders = PortHolders.programs(barring: address.host, port, transport, SystemTree(root: "/"))
            .map { "\($0.name) (process \($0.process))" }.joined(separator: ", ")
    }

    /// Whether this machine does not have the address.
    package var isAddressAway: Bool { code == EADDRNOTAVAIL }

    /// What is wrong, without the fix.
    package var reason: String {
        switch code {
        case EADDRINUSE: "\(address) is taken by \(holders.isEmpty ? "another program" : holders)"
        case EADDRNOTAVAIL: "\(address) is not an address of this machine"
        case EACCES: "this user may not use \(address)"
        default: "\(address): \(String(cString: strerror(code)))"
        }
    }

    package var description: String { "\(reason); \(advice)" }
}
