internal import Glibc
internal import LinkSession

/// A local address that Link can use, and the interface behind it.
package struct LocalAddress: Hashable, Sendable {
    var address: IPAddress
    /// The interface's name, without the label of an additional address.
    var name: String
    /// The system's number for the interface; another one means another interface, even of the same name.
    var index: UInt32

    /// More addresses than any host needs; a bound, so that hundreds of virtual ones do not eat the descriptors.
    private static let limit = 32

    /// The addresses in use now: loopback, then the others of IPv4, then those of IPv6, each in numerical order.
    ///
    /// Loopback is always among them, or the other Link programs of this machine would vanish. Of IPv6 only link-local
    /// addresses count, and only on interfaces that have one of IPv4 besides: that is where other peers look for them.
    ///
    /// - Parameter names: the interfaces to use; empty means all.
    /// - Returns: one entry for each address, whichever interface has it first; nil if the system does not tell, for
    ///   want of a descriptor or memory.
    static func scan(onlyNamed names: [String]) -> [LocalAddress]? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return nil }
        defer { freeifaddrs(first) }
        var found: [LocalAddress] = []
        for pointer in sequence(first: first, next: { $0?.pointee.ifa_next }) {
            guard let entry = pointer?.pointee, let address = LocalAddress(entry) else { continue }
            let isLoopback = entry.ifa_flags & UInt32(IFF_LOOPBACK) != 0
            let isRunning = entry.ifa_flags & UInt32(IFF_RUNNING) != 0
            let isUp = entry.ifa_flags & UInt32(IFF_UP) != 0
            let isWanted = names.isEmpty || names.contains(address.name)
            let isUsable = isLoopback ? !address.isIPv6 : isRunning && isWanted
            if isUp, isUsable, !found.contains(where: { $0.address == address.address }) { found.append(address) }
        }
        let hasIPv4 = Set(found.filter { !$0.isIPv6 }.map(\.index))
        found.removeAll { $0.isIPv6 && !hasIPv4.contains($0.index) }
        found.sort { $0.address < $1.address }
        return Array((found.filter(\.isLoopback) + found.filter { !$0.isLoopback }).prefix(limit))
    }

    /// How many descriptors a peer opens at the addresses in use now.
    package static func descriptorsNeeded(onlyNamed names: [String]) -> Int {
        3 * (scan(onlyNamed: names)?.count ?? limit)
    }

    /// Whether it is one of those on which programs of this machine meet.
    var isLoopback: Bool { if case .v4(let bits) = address { bits >> 24 == 127 } else { false } }

    var isIPv6: Bool { if case .v6 = address { true } else { false } }

    /// The address of an entry of the system's list; nil if it is neither of IPv4 nor link-local.
    private init?(_ entry: ifaddrs) {
        guard let found = entry.ifa_addr else { return nil }
        switch Int32(found.pointee.sa_family) {
        case AF_INET:
            address = found.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                .v4(UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
            }
        case AF_INET6:
            address = found.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { IPAddress($0.pointee.sin6_addr) }
            guard case .v6(let high, _) = address, high >> 54 == 0xfe80 >> 6 else { return nil }
        default: return nil
        }
        let label = String(cString: entry.ifa_name)
        name = label.split(separator: ":").first.map(String.init) ?? label
        index = if_nametoindex(name)
    }
}
