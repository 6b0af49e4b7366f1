internal import Glibc
internal import LinkSession

/// An IPv4 or IPv6 address and port, in the form that system calls take.
struct SocketAddress {
    private var storage = sockaddr_storage()
    private var size = socklen_t(MemoryLayout<sockaddr_storage>.size)

    /// - Parameters:
    ///   - endpoint: address and port.
    ///   - scope: the index of the interface that a link-local IPv6 address belongs to; ignored for IPv4.
    init(_ endpoint: Endpoint, scope: UInt32) {
        switch endpoint.address {
        case .v4(let bits):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = endpoint.port.bigEndian
            address.sin_addr = in_addr(s_addr: bits.bigEndian)
            store(address)
        case .v6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = endpoint.port.bigEndian
            address.sin6_addr = in6_addr(endpoint.address)
            address.sin6_scope_id = scope
            store(address)
        }
    }

    /// The address that a system call fills in; `result` receives what the call returns.
    init(filledBy call: (UnsafeMutablePointer<sockaddr>?, inout socklen_t) -> Int, result: inout Int) {
        var size = size
        result = withUnsafeMutableBytes(of: &storage) { bytes in
            call(bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
        }
        self.size = size
    }

    private mutating func store<Address>(_ address: Address) {
        size = socklen_t(MemoryLayout<Address>.size)
        withUnsafeMutableBytes(of: &storage) { storage in
            withUnsafeBytes(of: address) { storage.copyMemory(from: $0) }
        }
    }

    /// Address and port; nil if the family is neither IPv4 nor IPv6.
    var endpoint: Endpoint? {
        withUnsafeBytes(of: storage) { bytes in
            switch Int32(storage.ss_family) {
            case AF_INET:
                let address = bytes.load(as: sockaddr_in.self)
                return Endpoint(
                    address: .v4(UInt32(bigEndian: address.sin_addr.s_addr)), port: UInt16(bigEndian: address.sin_port))
            case AF_INET6:
                let address = bytes.load(as: sockaddr_in6.self)
                return Endpoint(address: IPAddress(address.sin6_addr), port: UInt16(bigEndian: address.sin6_port))
            default: return nil
            }
        }
    }

    /// Calls `body` with a pointer to the address and its size.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>?, socklen_t) -> Result) -> Result {
        withUnsafeBytes(of: storage) { body($0.baseAddress?.assumingMemoryBound(to: sockaddr.self), size) }
    }
}

extension in6_addr {
    /// An IPv6 address in network byte order; an IPv4 address becomes the unspecified address `::`.
    init(_ address: IPAddress) {
        self.init()
        guard case .v6(let high, let low) = address else { return }
        withUnsafeMutableBytes(of: &self) {
            $0.storeBytes(of: high.bigEndian, as: UInt64.self)
            $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
    }
}

extension IPAddress {
    init(_ address: in6_addr) {
        self = withUnsafeBytes(of: address) {
            .v6(
                high: UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }
}
