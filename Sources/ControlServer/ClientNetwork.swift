internal import Glibc
internal import NIOCore

/// The addresses that one client may have as it likes: an IPv4 address, or the 64-bit prefix of an IPv6 address.
struct ClientNetwork: Hashable, Sendable {
    /// Bytes of the address, or of its prefix; empty if there is none.
    private let prefix: [UInt8]

    init(_ address: SocketAddress?) {
        let text = address?.ipAddress ?? ""
        guard case .v6 = address else {
            prefix = Self.bytes(of: text, AF_INET, count: 4)
            return
        }
        let bytes = Self.bytes(of: text, AF_INET6, count: 16)
        // To a server that takes both, IPv4 clients come from ::ffff:a.b.c.d.
        let isIPv4 = bytes.prefix(12).elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff])
        prefix = Array(isIPv4 ? bytes.suffix(4) : bytes.prefix(8))
    }

    private static func bytes(of text: String, _ family: Int32, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = inet_pton(family, text, buffer.baseAddress) == 1 ? count : 0
        }
    }
}

/// Who asks.
struct Client: Hashable, Sendable {
    /// Its address without the port, for a log; empty if it has left already.
    let address: String
    let network: ClientNetwork
    /// Whether it may be a web page of another origin, in a browser in which the panel may be open, too.
    var mayBeForeignPage = false

    init(_ address: SocketAddress?) {
        self.address = address?.ipAddress ?? ""
        network = ClientNetwork(address)
    }
}
