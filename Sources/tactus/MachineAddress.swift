import Glibc

/// An IP address of this machine, and the interface that has it.
struct MachineAddress: Hashable {
    /// In its shortest spelling, without a zone such as `%eth0`.
    var text: String
    /// The system's number for the interface; 0 if it has just gone.
    var interface: UInt32
    var isIPv6 = false
    /// Whether it is that of a loopback interface.
    var isLoopback = false
    /// Whether the interface is connected to a network.
    var isRunning = true

    /// All of them, in the system's order; none if the system is short of memory.
    ///
    /// They include those of bridges for containers, which other machines cannot reach.
    static var all: [MachineAddress] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        return sequence(first: first, next: { $0?.pointee.ifa_next }).compactMap { pointer in
            (pointer?.pointee).flatMap { MachineAddress($0) }
        }
    }
}

extension MachineAddress {
    /// An entry of the system's list; nil if it has no IP address.
    private init?(_ entry: ifaddrs) {
        guard let address = entry.ifa_addr else { return nil }
        let family = Int32(address.pointee.sa_family)
        guard family == AF_INET || family == AF_INET6 else { return nil }
        let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(address, socklen_t(size), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
            return nil
        }
        let zone = CChar(bitPattern: UInt8(ascii: "%"))
        self.init(
            text: String(decoding: text.prefix { $0 != 0 && $0 != zone }.map(UInt8.init(bitPattern:)), as: UTF8.self),
            interface: if_nametoindex(entry.ifa_name), isIPv6: family == AF_INET6,
            isLoopback: entry.ifa_flags & UInt32(IFF_LOOPBACK) != 0,
            isRunning: entry.ifa_flags & UInt32(IFF_RUNNING) != 0)
    }
}
