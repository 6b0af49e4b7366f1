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
    package static let most = 32

    /// How many descriptors a peer opens on the addresses in use now.
    package static func descriptorsNeeded(onlyNamed names: [String]) -> Int {
        3 * (LocalAddresses.scan(onlyNamed: names)?.used.count ?? most)
    }

    /// Whether this is an IPv4 loopback address.
    var isLoopback: Bool { if case .v4(let bits) = address { bits >> 24 == 127 } else { false } }

    var isIPv6: Bool { if case .v6 = address { true } else { false } }
}

extension LocalAddress {
    /// The address in an entry of the system's list; nil if it is neither IPv4 nor link-local IPv6.
    fileprivate init?(_ entry: ifaddrs) {
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

/// This machine's addresses that Link could use, and those of them that it uses.
///
/// Some machines have hundreds, on bridges that other programs make. They must not use up all file descriptors, nor keep
/// out the network that the music is on.
struct LocalAddresses: Sendable {
    /// The addresses to use.
    ///
    /// If there are too many: a loopback address, those of interfaces that lead out of this
    /// machine, then others; of each interface one before a second of any.
    let used: [LocalAddress]
    /// The rest, in the same order.
    let leftOut: [LocalAddress]

    /// - Parameters:
    ///   - all: every usable address, once.
    ///   - leadsOut: whether an interface, given by its name, leads out of this machine.
    init(_ all: [LocalAddress], leadsOut: (String) -> Bool) {
        guard all.count > LocalAddress.most else {
            (used, leftOut) = (all, [])
            return
        }
        let ranked = Dictionary(grouping: all, by: \.index).values.flatMap { interface in
            let addresses = interface.sorted { $0.address < $1.address }
            let isOut = !addresses[0].isLoopback && leadsOut(addresses[0].name)
            return addresses.enumerated().map { number, address in
                (
                    rank: (address.isLoopback && number == 0 ? 0 : isOut ? 1 : 2, number, address.address),
                    address: address
                )
            }
        }
        let sorted = ranked.sorted { $0.rank < $1.rank }.map(\.address)
        (used, leftOut) = (Array(sorted.prefix(LocalAddress.most)), Array(sorted.dropFirst(LocalAddress.most)))
    }

    /// The addresses now.
    ///
    /// Loopback is always included, because other Link programs on this machine are found through it. An IPv6 address
    /// is included only if it is link-local and its interface also has an IPv4 address, as other peers do it.
    ///
    /// - Parameter names: the interfaces to use besides loopback; empty means all.
    /// - Returns: if two interfaces have the same address, the first. Nil if the system call fails because descriptors or
    ///   memory are short.
    static func scan(onlyNamed names: [String]) -> LocalAddresses? {
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
        return LocalAddresses(found, leadsOut: leadsOut)
    }

    /// Whether an interface is a device, or stands on one as a bridge or a VLAN does, or has the default route.
    private static func leadsOut(_ name: String) -> Bool {
        let folder = "/sys/class/net/\(name)"
        return ["", "/lower_*", "/lower_*/lower_*"].contains { exists("\(folder)\($0)/device") }
            || defaultRoutes.contains(name)
    }

    private static func exists(_ pattern: String) -> Bool {
        var found = glob_t()
        defer { globfree(&found) }
        return glob(pattern, GLOB_NOSORT, nil, &found) == 0
    }

    /// The interfaces with a default route.
    private static var defaultRoutes: [String] {
        guard let file = fopen("/proc/net/route", "re") else { return [] }
        defer { fclose(file) }
        var names: [String] = []
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let fields = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                .split(whereSeparator: \.isWhitespace)
            if fields.count > 1, fields[1] == "00000000" { names.append(String(fields[0])) }
        }
        return names
    }
}
