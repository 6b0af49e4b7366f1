internal import Glibc

/// A local IPv4 address that Link can use, and the interface behind it.
struct LocalAddress: Hashable, Sendable {
    /// The first byte of the address is the most significant.
    var bits: UInt32
    /// The interface's name, without the label of an additional address.
    var name: String
    /// The system's number for the interface; another one means another interface, even of the same name.
    var index: UInt32

    /// More addresses than any host needs; a bound, so that hundreds of virtual ones do not eat the descriptors.
    private static let limit = 32

    /// The addresses in use now, in numerical order.
    ///
    /// Loopback is always among them, or the other Link programs of this machine would vanish.
    ///
    /// - Parameter names: the interfaces to use; empty means all.
    /// - Returns: one entry for each address, whichever interface has it first.
    static func scan(onlyNamed names: [String]) -> [LocalAddress] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var found: [LocalAddress] = []
        for pointer in sequence(first: first, next: { $0?.pointee.ifa_next }) {
            guard let entry = pointer?.pointee, let address = LocalAddress(entry) else { continue }
            let isLoopback = entry.ifa_flags & UInt32(IFF_LOOPBACK) != 0
            let isRunning = entry.ifa_flags & UInt32(IFF_RUNNING) != 0
            let isUp = entry.ifa_flags & UInt32(IFF_UP) != 0
            let isWanted = names.isEmpty || names.contains(address.name)
            if isUp, isLoopback || (isRunning && isWanted), !found.contains(where: { $0.bits == address.bits }) {
                found.append(address)
            }
        }
        return Array(found.sorted { $0.bits < $1.bits }.prefix(limit))
    }

    /// The address of an entry of the system's list; nil if it is none of IPv4.
    private init?(_ entry: ifaddrs) {
        guard let address = entry.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET) else { return nil }
        bits = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
            UInt32(bigEndian: $0.pointee.sin_addr.s_addr)
        }
        let label = String(cString: entry.ifa_name)
        name = label.split(separator: ":").first.map(String.init) ?? label
        index = if_nametoindex(name)
    }
}
