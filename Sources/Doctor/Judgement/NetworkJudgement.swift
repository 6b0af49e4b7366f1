extension NetworkFacts {
    var findings: [Finding] {
        [networksFinding] + interfaces.filter(\.isUsable).map(multicastFinding)
            + interfaces.filter { $0.isUsable && $0.isWireless }.map(powerSaveFinding) + [portFinding, peersFinding]
    }

    /// The interfaces that lead out of this computer.
    private var networks: [Interface] { interfaces.filter { $0.isUsable && !$0.isLoopback } }

    private var networksFinding: Finding {
        if let loopbackFinding { return loopbackFinding }
        switch networks.count {
        case 0: return noNetworkFinding
        case 1: return .ok(.networks, "\(networks[0].name) (\(networks[0].networks.joined(separator: ", ")))")
        default: return severalNetworksFinding
        }
    }

    /// What keeps Link programs on this computer apart, if anything.
    private var loopbackFinding: Finding? {
        let all = interfaces.filter(\.isLoopback)
        if all.contains(where: \.isUsable) { return nil }
        let effect: FindingText = "so Link programs on this computer cannot find each other"
        if let up = all.first(where: \.isUp) {
            return .problem(
                .networks, "the loopback interface has no IPv4 address, \(effect)",
                fix: "sudo ip address add 127.0.0.1/8 dev \(up.name)")
        }
        return .problem(.networks, "the loopback interface is down, \(effect)", fix: "sudo ip link set lo up")
    }

    private var noNetworkFinding: Finding {
        let found: FindingText = "there is no network, so Link reaches only programs on this computer"
        let others = interfaces.filter { !$0.isLoopback }
        let candidate = others.first { $0.isUp && $0.isRunning } ?? others.first(where: \.isPhysical) ?? others.first
        guard let candidate else { return .warning(.networks, found, fix: "plug in a cable, or switch Wi-Fi on") }
        if !candidate.isUp { return .warning(.networks, found, fix: "sudo ip link set \(candidate.name) up") }
        guard candidate.isRunning else {
            return .warning(
                .networks, found, fix: "\(candidate.name) is not connected: plug in its cable, or join a Wi-Fi")
        }
        return .warning(
            .networks, "\(candidate.name) has no IPv4 address, so Link reaches only programs on this computer",
            fix: "sudo nmcli device connect \(candidate.name) # without NetworkManager: turn DHCP on for it, or give "
                + "it an address by hand")
    }

    private var severalNetworksFinding: Finding {
        let names = networks.map { "\($0.name) (\($0.networks.joined(separator: ", ")))" }.joined(separator: ", ")
        let twice = peers.filter { $0.interfaces.subtracting(loopbacks).count > 1 }.count
        let heard: FindingText = twice > 0 ? "; \(Self.programs(twice)) heard on more than one of them" : ""
        return .warning(
            .networks, "Link uses several networks at once: \(names)\(heard)",
            fix: "start the gateway with --interface \(best.name)")
    }

    /// The network to keep, if there is any: prefers hardware to interfaces made by programs, then a cable to Wi-Fi.
    private var best: Interface { networks.min { Self.rank($0) < Self.rank($1) } ?? networks[0] }

    private static func rank(_ interface: Interface) -> Int {
        (interface.isPhysical ? 0 : 2) + (interface.isWireless ? 1 : 0)
    }

    private var loopbacks: Set<String> { Set(interfaces.filter(\.isLoopback).map(\.name)) }

    private func multicastFinding(_ interface: Interface) -> Finding {
        let name = interface.name
        // The loopback interface lacks the flag MULTICAST, but supports multicast.
        guard interface.isMulticast || interface.isLoopback else {
            return .problem(
                .multicast, of: name, "it is switched off", fix: "sudo ip link set dev \(name) multicast on")
        }
        switch (interface.hearsItself, port) {
        case (true, _): return .ok(.multicast, of: name, "messages to Link's multicast group arrive")
        case (false, _):
            return .problem(
                .multicast, of: name, "messages to Link's multicast group do not arrive; a firewall may block them",
                fix: firewallFix(for: interface))
        case (nil, .taken):
            return .warning(
                .multicast, of: name, "it could not be tested, because another program has Link's port", fix: portFix)
        case (nil, _):
            return .problem(
                .multicast, of: name, "it cannot be used: \(interface.trouble ?? "the system does not say why")",
                fix: "sudo ip link set \(name) down && sudo ip link set \(name) up")
        }
    }

    /// Link also measures clocks at ports chosen by the system, so the whole network must be allowed in.
    private func firewallFix(for interface: Interface) -> String {
        let network = interface.networks[0]
        return switch firewall {
        case .ufw: "sudo ufw allow in on \(interface.name) proto udp from \(network)"
        case .firewalld:
            "sudo firewall-cmd --permanent --add-rich-rule='rule family=ipv4 source address=\(network) protocol "
                + "value=udp accept' && sudo firewall-cmd --reload # with --zone=NAME if \(interface.name) is not in "
                + "the default zone"
        case .other:
            "sudo nft insert rule inet filter input ip saddr \(network) meta l4proto udp accept # use your own "
                + "names of table and chain ('sudo nft list ruleset'); add the rule to /etc/nftables.conf, too"
        }
    }

    private func powerSaveFinding(_ interface: Interface) -> Finding {
        let name = interface.name
        switch interface.savesPower {
        case false: return .ok(.wifiPowerSave, of: name, "off")
        case true:
            return .warning(
                .wifiPowerSave, of: name, "on",
                fix: "sudo iw dev \(name) set power_save off # repeat this after each restart")
        case nil:
            return .warning(
                .wifiPowerSave, of: name, "its driver does not say whether it saves power",
                fix: "sudo iw dev \(name) set power_save off # or use a cable")
        }
    }

    private var portFinding: Finding {
        switch port {
        case .free(let programs):
            let names = programs.map(Self.name).joined(separator: ", ")
            return .ok(
                .linkPort, programs.isEmpty ? "UDP port 20808 can be used" : "UDP port 20808 is shared by \(names)")
        case .taken(let programs):
            let names = programs.map(Self.name).joined(separator: ", ")
            let who: FindingText = programs.isEmpty ? "a program of another user" : "\(names)"
            return .problem(.linkPort, "UDP port 20808 is taken by \(who), which does not share it", fix: portFix)
        case .failing(let words):
            return .problem(.linkPort, "UDP port 20808 cannot be used: \(words)", fix: portFix)
        }
    }

    private var portFix: String {
        let list = "sudo ss -ulpn 'sport = :20808'"
        guard case .taken(let programs) = port else { return "\(list) # shows who has it" }
        guard !programs.isEmpty else { return "\(list) # shows the program; end it" }
        return "kill " + programs.map { String($0.process) }.joined(separator: " ")
    }

    private static func name(_ program: Program) -> String { "\(program.name) (process \(program.process))" }

    private static func programs(_ count: Int) -> FindingText {
        count == 1 ? "one Link program is" : "\(count) Link programs are"
    }

    private var peersFinding: Finding {
        guard !peers.isEmpty else { return nobodyFinding }
        let (here, away) = (peers.filter(\.isHere).count, peers.filter { !$0.isHere }.count)
        let places = [(here, "on this computer"), (away, "on other computers")].filter { $0.0 > 0 }
            .map { count, place -> FindingText in "\(count) \(known: place)" }.joined(separator: ", ")
        let sessions = Dictionary(grouping: peers, by: \.session).values.map { $0[0].beatsPerMinute }.sorted()
        let tempos = sessions.map { tempo -> FindingText in "\((tempo * 100).rounded() / 100) BPM" }.joined(
            separator: ", ")
        let session: FindingText =
            sessions.count == 1 ? "one session at \(tempos)" : "\(sessions.count) sessions at \(tempos)"
        if let crowd {
            return .warning(
                .linkPeers, "at least 256 Link programs are heard, more than can be real; most come from \(crowd)",
                fix: "find the program or machine with that address and stop it; or start the gateway "
                    + "with --interface NAME, another network")
        }
        let heard: FindingText = "\(Self.programs(peers.count)) heard (\(places)), \(session)"
        return silenceFinding(heard) ?? .ok(.linkPeers, heard)
    }

    /// What a network looks like that passes multicast and nothing else; nil if everybody answers.
    private func silenceFinding(_ heard: FindingText) -> Finding? {
        let silent = peers.filter { $0.answers == false }
        guard !silent.isEmpty else { return nil }
        let places = Set(silent.map(\.address)).sorted()
        let rest: FindingText = places.count > 3 ? " and \(places.count - 3) more" : ""
        let found: FindingText =
            "\(heard), but what is sent to \(places.prefix(3).joined(separator: ", "))\(rest) alone is not answered"
        let fix =
            "turn off client isolation in the access point, or use a cable; and let the firewall of that computer pass "
            + "UDP from the local network to all ports"
        return peers.contains { $0.answers == true }
            ? .warning(.linkPeers, found, fix: fix)
            : .problem(
                .linkPeers, "\(found): the network passes multicast only, so Tactus cannot play in time with them",
                fix: fix)
    }

    private var nobodyFinding: Finding {
        switch port {
        case .taken, .failing:
            return .warning(
                .linkPeers, "it could not be tested, because Link's port cannot be used", fix: portFix)
        case .free where networks.isEmpty: return .ok(.linkPeers, "no Link program is heard on this computer")
        case .free:
            return .warning(
                .linkPeers, "no Link program is heard",
                fix: "if one runs: switch Link on in it, have it join the network of \(best.name), let its firewall "
                    + "pass UDP, and turn off client isolation in the access point")
        }
    }
}
