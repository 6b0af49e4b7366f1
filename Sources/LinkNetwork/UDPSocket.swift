internal import CLinux
internal import Glibc
internal import LinkSession
internal import RealTime

/// A non-blocking UDP socket over IPv4, closed with its owner.
struct UDPSocket: ~Copyable {
    let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// 224.76.78.75 port 20808, where all Link peers meet.
    static let group = Endpoint(address: .v4(224, 76, 78, 75), port: 20808)

    /// A socket that sends from an address, and receives what is sent to it there.
    static func sending(from address: UInt32) throws(SystemCallError) -> UDPSocket {
        let socket = try open(on: address)
        try socket.bind(to: sockaddr_in(Endpoint(address: .v4(address), port: 0)))
        return socket
    }

    /// A socket that receives what is sent to the group on the network of an address.
    static func receivingGroup(on address: UInt32) throws(SystemCallError) -> UDPSocket {
        let socket = try open(on: address)
        // Every Link program of a host binds this port, so all of them must say that they share it.
        try socket.set(SOL_SOCKET, SO_REUSEADDR, Int32(1))
        try socket.bind(to: sockaddr_in(Endpoint(address: .v4(0), port: group.port)))
        let membership = ip_mreq(imr_multiaddr: in_addr(group.address), imr_interface: in_addr(.v4(address)))
        try socket.set(Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, membership)
        return socket
    }

    /// A socket whose datagrams to the group come back to this host on the network of an address, and never leave it.
    static func sendingWithinHost(on address: UInt32) throws(SystemCallError) -> UDPSocket {
        let socket = try sending(from: address)
        try socket.set(Int32(IPPROTO_IP), IP_MULTICAST_TTL, Int32(0))
        try socket.set(Int32(IPPROTO_IP), IP_MULTICAST_LOOP, Int32(1))
        return socket
    }

    private static func open(on address: UInt32) throws(SystemCallError) -> UDPSocket {
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = UDPSocket(descriptor: try checked("socket") { Glibc.socket(AF_INET, type, 0) })
        let level = Int32(IPPROTO_IP)
        // Programs of one host meet on loopback only; elsewhere they would meet a second time, and themselves.
        let isLoopback = address >> 24 == 127
        try socket.set(level, IP_MULTICAST_LOOP, Int32(isLoopback ? 1 : 0))
        try socket.set(level, IP_MULTICAST_IF, in_addr(.v4(address)))
        // Else a socket hears the groups that other sockets have joined, on networks that are not its own.
        try checked("setsockopt IP_MULTICAST_ALL") { clinux_hear_only_joined_groups(socket.descriptor) }
        return socket
    }

    private func set<Value: BitwiseCopyable>(
        _ level: Int32, _ option: Int32, _ value: Value
    ) throws(SystemCallError) {
        var value = value
        let size = socklen_t(MemoryLayout<Value>.size)
        try checked("setsockopt \(option)") { setsockopt(descriptor, level, option, &value, size) }
    }

    private func bind(to address: sockaddr_in) throws(SystemCallError) {
        try checked("bind \(UInt16(bigEndian: address.sin_port))") {
            withSocketAddress(address) { Glibc.bind(descriptor, $0, $1) }
        }
    }

    /// The port that the system has given this socket.
    func port() throws(SystemCallError) -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        try checked("getsockname") {
            withUnsafeMutableBytes(of: &address) { bytes in
                getsockname(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// What came of an attempt to receive.
    enum Received {
        case datagram([UInt8], from: Endpoint)
        /// The socket told of an error; the next datagram may be fine.
        case error
        /// Nothing more has come.
        case nothing
    }

    func receive() -> Received {
        var source = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Wire.receiveLimit) { buffer, initialized in
            count = withUnsafeMutableBytes(of: &source) { bytes in
                recvfrom(
                    descriptor, buffer.baseAddress, buffer.count, 0,
                    bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
            }
            initialized = max(0, count)
        }
        if count < 0 { return errno == EAGAIN ? .nothing : .error }
        let address = IPAddress.v4(UInt32(bigEndian: source.sin_addr.s_addr))
        return .datagram(bytes, from: Endpoint(address: address, port: UInt16(bigEndian: source.sin_port)))
    }

    /// Sends a datagram; the value of errno if that did not work, else zero.
    func send(_ bytes: [UInt8], to endpoint: Endpoint) -> Int32 {
        guard case .v4 = endpoint.address else { return EAFNOSUPPORT }
        let count = withSocketAddress(sockaddr_in(endpoint)) { address, size in
            bytes.withUnsafeBytes { sendto(descriptor, $0.baseAddress, $0.count, 0, address, size) }
        }
        return count < 0 ? errno : 0
    }
}

/// Lends an address as the socket calls want it.
private func withSocketAddress<Result>(
    _ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>?, socklen_t) -> Result
) -> Result {
    withUnsafeBytes(of: address) { bytes in
        body(bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
    }
}

extension in_addr {
    /// An IPv4 address in network order; any other becomes 0.0.0.0.
    init(_ address: IPAddress) {
        guard case .v4(let bits) = address else {
            self.init(s_addr: 0)
            return
        }
        self.init(s_addr: bits.bigEndian)
    }
}

extension sockaddr_in {
    init(_ endpoint: Endpoint) {
        self.init()
        sin_family = sa_family_t(AF_INET)
        sin_port = endpoint.port.bigEndian
        sin_addr = in_addr(endpoint.address)
    }
}
