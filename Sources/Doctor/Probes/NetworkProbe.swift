internal import BeatTime
internal import CLinux
internal import Essentials
internal import Glibc
internal import LinkNetwork
internal import LinkSession
internal import RealTime

extension NetworkFacts {
    /// Reads the networks, then listens on them.
    static func read(_ tree: SystemTree) -> NetworkFacts {
        var facts = NetworkFacts()
        facts.interfaces = interfaces(tree)
        facts.firewall = firewall(tree)
        // Not one with IPv6 alone, such as a gateway that waits for IPv4.
        facts.listen(
            sharing: programs(PortHolders.programs(holding: linkPort, tree)),
            barring: programs(PortHolders.programs(barring: linkGroup, linkPort, .udp, tree)))
        return facts
    }

    private static func programs(_ running: [RunningProgram]) -> [Program] {
        running.map { Program(name: $0.name, process: $0.process) }
    }

    /// Link's UDP port and its group.
    private static let linkPort: UInt16 = 20808
    private static let linkGroup = "224.76.78.75"
    /// Listening time in milliseconds; a peer sends every 250 ms, or less often while it answers others.
    private static let listeningTime: Int64 = 1_500

    private mutating func listen(sharing holders: [Program], barring: [Program]) {
        let survey = LinkSurvey(milliseconds: Self.listeningTime)
        let refusals = survey.networks.compactMap(\.trouble).filter { $0.operation.hasPrefix("bind") }
        port =
            if refusals.contains(where: { $0.code == EADDRINUSE }) {
                .taken(barring)
            } else if let refusal = refusals.first {
                .failing(refusal.description)
            } else {
                .free(holders)
            }
        for index in interfaces.indices {
            let addresses = survey.networks.filter { $0.name == interfaces[index].name }
            interfaces[index].trouble = addresses.compactMap(\.trouble).first?.description
            let probesReturned = addresses.compactMap(\.hearsItself)
            interfaces[index].hearsItself = probesReturned.isEmpty ? nil : probesReturned.allSatisfy(\.self)
        }
        crowd = survey.crowd?.description
        let own = Set(survey.networks.map(\.address))
        peers = survey.peers.map { peer in
            Peer(
                session: peer.session.description, beatsPerMinute: peer.tempo.beatsPerMinute,
                isHere: own.contains(peer.source), interfaces: peer.interfaces, address: "\(peer.source)",
                answers: peer.answers)
        }
    }

    private static func firewall(_ tree: SystemTree) -> Firewall {
        let ufw = tree.text("etc/ufw/ufw.conf")?.split(separator: "\n") ?? []
        if ufw.contains("ENABLED=yes") { return .ufw }
        return tree.exists("sys/fs/cgroup/system.slice/firewalld.service") ? .firewalld : .other
    }

    /// All interfaces by name, whether Link can use them or not.
    private static func interfaces(_ tree: SystemTree) -> [Interface] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var found: [Interface] = []
        for pointer in sequence(first: first, next: { $0?.pointee.ifa_next }) {
            guard let entry = pointer?.pointee else { continue }
            let label = String(cString: entry.ifa_name)
            // Remove the label of an additional address.
            let name = label.split(separator: ":").first.map(String.init) ?? label
            if !found.contains(where: { $0.name == name }) {
                found.append(interface(name, flags: entry.ifa_flags, tree))
            }
            guard let network = network(of: entry), let index = found.firstIndex(where: { $0.name == name }),
                !found[index].networks.contains(network)
            else { continue }
            found[index].networks.append(network)
        }
        return found.sorted { $0.name < $1.name }
    }

    private static func interface(_ name: String, flags: UInt32, _ tree: SystemTree) -> Interface {
        let folder = "sys/class/net/\(name)"
        var interface = Interface(name: name)
        interface.isLoopback = flags & UInt32(IFF_LOOPBACK) != 0
        interface.isUp = flags & UInt32(IFF_UP) != 0
        interface.isRunning = flags & UInt32(IFF_RUNNING) != 0
        interface.isMulticast = flags & UInt32(IFF_MULTICAST) != 0
        interface.isPhysical = tree.exists("\(folder)/device")
        interface.isWireless = tree.exists("\(folder)/phy80211") || tree.exists("\(folder)/wireless")
        if interface.isWireless {
            let state = clinux_wifi_power_save(if_nametoindex(name))
            interface.savesPower = state < 0 ? nil : state == 1
        }
        return interface
    }

    /// The IPv4 network of an entry in the system's list.
    private static func network(of entry: ifaddrs) -> String? {
        guard let address = entry.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET),
            let mask = entry.ifa_netmask
        else { return nil }
        return network(of: bits(address), mask: bits(mask))
    }

    private static func bits(_ address: UnsafeMutablePointer<sockaddr>) -> UInt32 {
        address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt32(bigEndian: $0.pointee.sin_addr.s_addr) }
    }
}
