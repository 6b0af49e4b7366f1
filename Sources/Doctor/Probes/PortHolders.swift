/// Finds the programs that use a UDP port.
enum PortHolders {
    /// Searches the open files of all processes; only root sees those of other users.
    static func programs(holding port: UInt16, _ tree: SystemTree) -> [NetworkFacts.Program] {
        let tables = ["proc/net/udp", "proc/net/udp6"].compactMap(tree.text)
        let inodes = Set(tables.flatMap { NetworkFacts.inodes(holding: port, in: $0) })
        guard !inodes.isEmpty else { return [] }
        let sockets = Set(inodes.map { "socket:[\($0)]" })
        return tree.names("proc").compactMap(Int.init).filter { process in
            tree.names("proc/\(process)/fd").contains { file in
                tree.link("proc/\(process)/fd/\(file)").map(sockets.contains) ?? false
            }
        }
        .sorted().map { NetworkFacts.Program(name: tree.line("proc/\($0)/comm") ?? "a program", process: $0) }
    }
}
