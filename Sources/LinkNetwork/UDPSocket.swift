internal import CLinux
internal import Glibc
internal import LinkSession
internal import RealTime

/// A non-blocking UDP socket on one local address, closed with its owner.
struct UDPSocket: ~Copyable {
    let descriptor: Int32
    private let local: LocalAddress

    private init(descriptor: Int32, on local: LocalAddress) {
        self.descriptor = descriptor
        self.local = local
    }

    deinit { close(descriptor) }

    /// Link's IPv4 multicast group, 224.76.78.75.
    private static let group4: UInt32 = 0xe04c_4e4b

    /// Link's multicast group and port for an address's family.
    static func group(for address: IPAddress) -> Endpoint {
        switch address {
        case .v4: Endpoint(address: .v4(group4), port: 20808)
        case .v6: Endpoint(address: .v6(high: 0xff12 << 48, low: 0x8080), port: 20808)
        }
    }

    /// A socket that sends from an address and receives what is sent back to it.
    static func sending(from local: LocalAddress) throws(SystemCallError) -> UDPSocket {
        let socket = try open(on: local)
        try socket.bind(to: Endpoint(address: local.address, port: 0))
        return socket
    }

    /// A socket that receives what is sent to the group on an address's network, and nothing else.
    static func receivingGroup(on local: LocalAddress) throws(SystemCallError) -> UDPSocket {
        let socket = try open(on: local)
        let group = group(for: local.address)
        // Every Link program on a host binds this port, which works only if each of them sets this option.
        try socket.set(SOL_SOCKET, SO_REUSEADDR, Int32(1))
        // Bound to any address, it would also receive what anybody, on any network, sends straight to this host's port.
        try socket.bind(to: group)
        switch local.address {
        case .v4(let bits):
            let membership = ip_mreq(
                imr_multiaddr: in_addr(s_addr: group4.bigEndian), imr_interface: in_addr(s_addr: bits.bigEndian))
            try socket.set(Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, membership)
        case .v6:
            let membership = ipv6_mreq(ipv6mr_multiaddr: in6_addr(group.address), ipv6mr_interface: local.index)
            try socket.set(Int32(IPPROTO_IPV6), IPV6_ADD_MEMBERSHIP, membership)
        }
        return socket
    }

    /// A socket whose datagrams to the group come back to this host and never leave it.
    ///
    /// IPv4 only.
    static func sendingWithinHost(on local: LocalAddress) throws(SystemCallError) -> UDPSocket {
        let socket = try sending(from: local)
        try socket.set(Int32(IPPROTO_IP), IP_MULTICAST_TTL, Int32(0))
        try socket.set(Int32(IPPROTO_IP), IP_MULTICAST_LOOP, Int32(1))
        return socket
    }

    private static func open(on local: LocalAddress) throws(SystemCallError) -> UDPSocket {
        let family: Int32 = if case .v4 = local.address { AF_INET } else { AF_INET6 }
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = UDPSocket(descriptor: try checked("socket") { Glibc.socket(family, type, 0) }, on: local)
        switch local.address {
        case .v4(let bits):
            // Programs on one host find each other through loopback only. Without this, they would also receive each
            // other's datagrams, and their own, on every other interface.
            try socket.set(Int32(IPPROTO_IP), IP_MULTICAST_LOOP, Int32(local.isLoopback ? 1 : 0))
            try socket.set(Int32(IPPROTO_IP), IP_MULTICAST_IF, in_addr(s_addr: bits.bigEndian))
        case .v6:
            try socket.set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, Int32(1))
            try socket.set(Int32(IPPROTO_IPV6), IPV6_MULTICAST_LOOP, Int32(0))
            try socket.set(Int32(IPPROTO_IPV6), IPV6_MULTICAST_IF, Int32(bitPattern: local.index))
        }
        // Without this, a socket also receives from groups that other sockets have joined on other networks.
        try checked("setsockopt MULTICAST_ALL") { clinux_hear_only_joined_groups(socket.descriptor, family) }
        return socket
    }

    /// Sets a socket option; the value must be a plain C value.
    private func set<Value>(_ level: Int32, _ option: Int32, _ value: Value) throws(SystemCallError) {
        try checked("setsockopt \(option)") {
            withUnsafeBytes(of: value) {
                setsockopt(descriptor, level, option, $0.baseAddress, socklen_t($0.count))
            }
        }
    }

    private func bind(to endpoint: Endpoint) throws(SystemCallError) {
        let address = SocketAddress(endpoint, scope: local.index)
        try checked("bind \(endpoint.port)") { address.withPointer { Glibc.bind(descriptor, $0, $1) } }
    }

    /// The port that the system chose for this socket.
    func port() throws(SystemCallError) -> UInt16 {
        var result = 0
        let address = SocketAddress(
            filledBy: { Int(getsockname(descriptor, $0, &$1)) }, result: &result)
        try checked("getsockname") { Int32(result) }
        return address.endpoint?.port ?? 0
    }

    /// Result of an attempt to receive.
    enum Received {
        case datagram([UInt8], from: Endpoint)
        /// The socket reported an error; the next datagram may be fine.
        case error
        /// No datagram is waiting.
        case nothing
    }

    func receive() -> Received {
        var count = 0
        var source: Endpoint?
        let bytes = [UInt8](unsafeUninitializedCapacity: Wire.receiveLimit) { buffer, initialized in
            let address = SocketAddress(
                filledBy: { recvfrom(descriptor, buffer.baseAddress, buffer.count, 0, $0, &$1) }, result: &count)
            source = address.endpoint
            initialized = max(0, count)
        }
        if count < 0 { return errno == EAGAIN ? .nothing : .error }
        return source.map { .datagram(bytes, from: $0) } ?? .error
    }

    /// Sends a datagram.
    ///
    /// - Returns: 0, or errno if it failed.
    func send(_ bytes: [UInt8], to endpoint: Endpoint) -> Int32 {
        let count = SocketAddress(endpoint, scope: local.index).withPointer { address, size in
            bytes.withUnsafeBytes { sendto(descriptor, $0.baseAddress, $0.count, 0, address, size) }
        }
        return count < 0 ? errno : 0
    }
}
