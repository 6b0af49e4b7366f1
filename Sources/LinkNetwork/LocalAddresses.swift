internal import Glibc
internal import LinkSession

/// A local address that Link can use, and the interface behind it.
package struct LocalAddress: Hashable, Sendable {
    var address: IPAddress
    /// The interface's name, without the label of an additional address: `eth0`, not `eth0:1`.
    var name: String
    /// The system's number for the interface.
    ///
    /// A different number is a different interface, even under the same name.
    var index: UInt32

    /// Most addresses used.
    ///
    /// Keeps hundreds of virtual interfaces from using up all file descriptors.
    private static let limit = 32

    /// The addresses in use now: loopback, other IPv4, then IPv6, each in numerical order.
    ///
    /// Loopback is always included, because other Link programs on this machine are found through it. An IPv6 address
    /// is included only if it is link-local and its interface also has an IPv4 address, as other peers do it.
    ///
    /// - Parameter names: the interfaces to use besides loopback; empty means all.
    /// - Returns: one entry per address; if two interfaces have the same address, the first. Nil if the system call
    ///   fails because descriptors or memory are short.
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

    /// How many descriptors a peer opens on the addresses in use now.
    package static func descriptorsNeeded(onlyNamed names: [String]) -> Int {
        3 * (scan(onlyNamed: names)?.count ?? limit)
    }

    /// Whether this is an IPv4 loopback address.
    var isLoopback: Bool { if case .v4(let bits) = address { bits >> 24 == 127 } else { false } }

    var isIPv6: Bool { if case .v6 = address { true } else { false } }

    /// The address in an entry of the system's list; nil if it is neither IPv4 nor link-local IPv6.
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
