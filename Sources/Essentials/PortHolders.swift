internal import Glibc

/// A running program.
package struct RunningProgram: Hashable, Comparable, Sendable {
    package var name: String
    package var process: Int

    package init(name: String, process: Int) {
        self.name = name
        self.process = process
    }

    package static func < (left: RunningProgram, right: RunningProgram) -> Bool { left.process < right.process }
}

/// Finds the programs that use ports of this machine.
package enum PortHolders {
    package enum Transport: String, Sendable {
        case udp, tcp
    }

    /// A row of `/proc/net/udp` and its like.
    private struct Socket {
        let inode: String
        /// Four or sixteen bytes.
        let address: [UInt8]
        let port: UInt16

        /// Whether it takes all addresses, those of IPv4 too unless it is set not to.
        var takesAll: Bool { address.allSatisfy { $0 == 0 } }
    }

    /// The programs whose sockets can keep an address and port from others.
    ///
    /// - Parameters:
    ///   - address: of IPv4 or IPv6, as numbers.
    ///   - port: the port.
    ///   - transport: for TCP, only listening sockets count.
    ///   - tree: the machine.
    /// - Returns: those that are visible, in order of their process IDs; only root sees those of other users.
    package static func programs(
        barring address: String, _ port: UInt16, _ transport: Transport, _ tree: SystemTree
    ) -> [RunningProgram] {
        let wanted = bytes(of: address)
        let isForAll = wanted.allSatisfy { $0 == 0 }
        let sockets = sockets(transport, tree).filter { $0.port == port }
        let alike = sockets.filter { socket in
            socket.address.count == wanted.count && (socket.takesAll || isForAll || socket.address == wanted)
        }
        let others = sockets.filter { socket in
            socket.address.count != wanted.count && (socket.address.count == 16 ? socket.takesAll : isForAll)
        }
        let inodes = (alike.isEmpty ? others : alike).map { ($0.inode, port) }
        return programs(holding: Dictionary(inodes) { first, _ in first }, tree)[port] ?? []
    }

    private static func bytes(of address: String) -> [UInt8] {
        let (family, count) = address.contains(":") ? (AF_INET6, 16) : (AF_INET, 4)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = inet_pton(family, address, buffer.baseAddress) == 1 ? count : 0
        }
    }

    /// The programs that use one port.
    package static func programs(holding port: UInt16, _ tree: SystemTree) -> [RunningProgram] {
        programs(holding: [port], tree)[port] ?? []
    }

    /// Searches the open files of all processes; only root sees those of other users.
    ///
    /// - Parameters:
    ///   - ports: UDP ports.
    ///   - tree: the machine.
    /// - Returns: the programs of each port, in order of their process IDs; a port without any is left out.
    package static func programs(holding ports: Set<UInt16>, _ tree: SystemTree) -> [UInt16: [RunningProgram]] {
        let inodes = sockets(.udp, tree).filter { ports.contains($0.port) }.map { ($0.inode, $0.port) }
        return programs(holding: Dictionary(inodes) { first, _ in first }, tree)
    }

    /// The programs that have sockets open, by port.
    ///
    /// - Parameters:
    ///   - ports: of sockets, by inode.
    ///   - tree: the machine.
    /// - Returns: in order of their process IDs.
    private static func programs(holding ports: [String: UInt16], _ tree: SystemTree) -> [UInt16: [RunningProgram]] {
        guard !ports.isEmpty else { return [:] }
        let sockets = Dictionary(uniqueKeysWithValues: ports.map { ("socket:[\($0)]", $1) })
        var found: [UInt16: [RunningProgram]] = [:]
        for process in tree.names("proc").compactMap(Int.init).sorted() {
            let files = tree.names("proc/\(process)/fd").compactMap { tree.link("proc/\(process)/fd/\($0)") }
            for port in Set(files.compactMap { sockets[$0] }) {
                let name = tree.line("proc/\(process)/comm") ?? "a program"
                found[port, default: []].append(RunningProgram(name: name, process: process))
            }
        }
        return found
    }

    private static func sockets(_ transport: Transport, _ tree: SystemTree) -> [Socket] {
        ["", "6"].compactMap { tree.text("proc/net/\(transport)\($0)") }.flatMap { text in
            text.split(separator: "\n").dropFirst().compactMap { row in
                let fields = row.split(separator: " ")
                guard fields.count > 9, transport == .udp || fields[3] == listening else { return nil }
                let place = fields[1].split(separator: ":")
                guard place.count == 2, let port = UInt16(place[1], radix: 16) else { return nil }
                return Socket(inode: String(fields[9]), address: bytes(ofWords: place[0]), port: port)
            }
        }
    }

    /// The state of a TCP socket that accepts connections.
    private static let listening = "0A"

    /// The bytes of an address that the kernel has written as whole numbers of this machine.
    private static func bytes(ofWords text: Substring) -> [UInt8] {
        var (bytes, rest): ([UInt8], Substring) = ([], text)
        while let word = UInt32(rest.prefix(8), radix: 16) {
            withUnsafeBytes(of: word) { bytes += $0 }
            rest = rest.dropFirst(8)
        }
        return bytes
    }
}
