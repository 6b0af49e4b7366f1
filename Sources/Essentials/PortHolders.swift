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

/// Finds the programs that use UDP ports of this machine.
package enum PortHolders {
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
        let tables = ["proc/net/udp", "proc/net/udp6"].compactMap(tree.text)
        var sockets: [String: UInt16] = [:]
        for (inode, port) in tables.flatMap(holdings) where ports.contains(port) { sockets["socket:[\(inode)]"] = port }
        guard !sockets.isEmpty else { return [:] }
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

    /// The socket inodes and local ports in the text of `/proc/net/udp`.
    private static func holdings(in text: String) -> [(inode: String, port: UInt16)] {
        text.split(separator: "\n").dropFirst().compactMap { row in
            let fields = row.split(separator: " ")
            guard fields.count > 9, let port = UInt16(fields[1].suffix(4), radix: 16) else { return nil }
            return (String(fields[9]), port)
        }
    }
}
