import Testing

@testable import Doctor

@Suite
struct NetworkJudgementTests {
    private static let loopback = NetworkFacts.Interface(
        name: "lo", isLoopback: true, isRunning: false, isMulticast: false, isPhysical: false,
        networks: ["127.0.0.0/8"], hearsItself: true)
    private static let wired = NetworkFacts.Interface(name: "eth0", networks: ["192.168.7.0/24"], hearsItself: true)
    private static let wireless = NetworkFacts.Interface(
        name: "wlan0", isWireless: true, savesPower: false, networks: ["10.0.0.0/8"], hearsItself: true)
    private static let peer = NetworkFacts.Peer(
        session: "a", beatsPerMinute: 133.70004, isHere: false, interfaces: ["eth0"])

    private func finding(
        _ code: Finding.Code, of subject: String? = nil, _ facts: NetworkFacts
    ) throws -> Finding {
        let found = facts.findings.filter { $0.code == code && $0.subject == subject }
        #expect(found.count == 1)
        return try #require(found.first)
    }

    private func facts(_ interfaces: NetworkFacts.Interface..., peers: [NetworkFacts.Peer] = []) -> NetworkFacts {
        NetworkFacts(interfaces: [Self.loopback] + interfaces, peers: peers)
    }

    @Test
    func `one working network with a peer is fine`() {
        let findings = facts(Self.wired, peers: [Self.peer]).findings
        #expect(findings.map(\.code) == [.networks, .multicast, .multicast, .linkPort, .linkPeers])
        #expect(findings.allSatisfy { $0.level == .ok && $0.fix == nil })
    }

    @Test
    func `several networks are named, and the cable is the one to keep`() throws {
        let bridge = NetworkFacts.Interface(name: "br0", isPhysical: false, networks: ["172.17.0.0/16"])
        let found = try finding(.networks, facts(bridge, Self.wireless, Self.wired, peers: [Self.peer]))
        #expect(found.level == .warning)
        #expect(found.fix == "start the gateway with --interface eth0")
        #expect(
            found.found
                == "Link uses several networks at once: br0 (172.17.0.0/16), wlan0 (10.0.0.0/8), eth0 (192.168.7.0/24)")
    }

    @Test
    func `a peer heard on two networks is reported, one on loopback and a network is not`() throws {
        var twice = Self.peer
        twice.interfaces = ["eth0", "wlan0"]
        let found = try finding(.networks, facts(Self.wireless, Self.wired, peers: [twice]))
        #expect(found.found.hasSuffix("; one Link program is heard on more than one of them"))
        twice.interfaces = ["lo", "wlan0"]
        #expect(try !finding(.networks, facts(Self.wireless, Self.wired, peers: [twice])).found.contains("heard"))
    }

    @Test
    func `without loopback the programs of one computer do not find each other`() throws {
        var down = Self.loopback
        down.isUp = false
        let found = try finding(.networks, NetworkFacts(interfaces: [down, Self.wired]))
        #expect(found.level == .problem)
        #expect(found.fix == "sudo ip link set lo up")
        var bare = Self.loopback
        bare.networks = []
        let unaddressed = try finding(.networks, NetworkFacts(interfaces: [bare, Self.wired]))
        #expect(unaddressed.level == .problem)
        #expect(unaddressed.fix == "sudo ip address add 127.0.0.1/8 dev lo")
    }

    @Test
    func `without any network the finding says what is missing`() throws {
        var wired = Self.wired
        wired.networks = []
        #expect(try finding(.networks, facts(wired)).fix?.hasPrefix("sudo nmcli device connect eth0 #") == true)
        wired.isRunning = false
        #expect(try finding(.networks, facts(wired)).fix?.hasPrefix("eth0 is not connected") == true)
        wired.isUp = false
        #expect(try finding(.networks, facts(wired)).fix == "sudo ip link set eth0 up")
        let alone = try finding(.networks, facts())
        #expect(alone.level == .warning)
        #expect(alone.fix == "plug in a cable, or switch Wi-Fi on")
        #expect(try finding(.linkPeers, facts()).level == .ok, "nobody can be expected then")
    }

    @Test
    func `disabled multicast is a problem, except on loopback`() throws {
        var wired = Self.wired
        wired.isMulticast = false
        let found = try finding(.multicast, of: "eth0", facts(wired))
        #expect(found.level == .problem)
        #expect(found.fix == "sudo ip link set dev eth0 multicast on")
        #expect(try finding(.multicast, of: "lo", facts(wired)).level == .ok)
    }

    @Test(arguments: [
        (NetworkFacts.Firewall.ufw, "sudo ufw allow in on eth0 proto udp from 192.168.7.0/24"),
        (
            .firewalld,
            "sudo firewall-cmd --permanent --add-rich-rule='rule family=ipv4 source address=192.168.7.0/24 protocol value=udp accept' && sudo firewall-cmd --reload #"
        ),
        (.other, "sudo nft insert rule inet filter input ip saddr 192.168.7.0/24 meta l4proto udp accept"),
    ])
    func `multicast that does not come back is blamed on the firewall`(
        firewall: NetworkFacts.Firewall, fix: String
    ) throws {
        var wired = Self.wired
        wired.hearsItself = false
        var facts = facts(wired)
        facts.firewall = firewall
        let found = try finding(.multicast, of: "eth0", facts)
        #expect(found.level == .problem)
        #expect(found.fix?.hasPrefix(fix) == true)
    }

    @Test
    func `sockets that cannot be created are reported in the system's words`() throws {
        var wired = Self.wired
        wired.hearsItself = nil
        wired.trouble = "sendto 224.76.78.75:20808: Network is unreachable"
        let found = try finding(.multicast, of: "eth0", facts(wired))
        #expect(found.level == .problem)
        #expect(found.found == "it cannot be used: sendto 224.76.78.75:20808: Network is unreachable")
    }

    @Test
    func `the fix for a power-saving Wi-Fi turns that off`() throws {
        #expect(try finding(.wifiPowerSave, of: "wlan0", facts(Self.wireless)).level == .ok)
        var naps = Self.wireless
        naps.savesPower = true
        let found = try finding(.wifiPowerSave, of: "wlan0", facts(naps))
        #expect(found.level == .warning)
        #expect(found.fix?.hasPrefix("sudo iw dev wlan0 set power_save off") == true)
        naps.savesPower = nil
        #expect(try finding(.wifiPowerSave, of: "wlan0", facts(naps)).level == .warning)
    }

    @Test
    func `a port that is not shared is reported with the program that uses it, if known`() throws {
        var facts = facts(Self.wired)
        facts.interfaces[1].hearsItself = nil
        facts.port = .taken([.init(name: "selfish", process: 4711)])
        var found = try finding(.linkPort, facts)
        #expect(found.level == .problem)
        #expect(found.found == "UDP port 20808 is taken by selfish (process 4711), which does not share it")
        #expect(found.fix == "kill 4711")
        #expect(try finding(.multicast, of: "eth0", facts).fix == "kill 4711")
        let unheard = try finding(.linkPeers, facts)
        #expect(unheard.level == .warning, "who cannot listen does not say that nobody speaks")
        #expect(unheard.found == "it could not be tested, because Link's port cannot be used")
        #expect(unheard.fix == "kill 4711")
        facts.port = .taken([])
        found = try finding(.linkPort, facts)
        #expect(found.found.contains("a program of another user"))
        #expect(found.fix?.hasPrefix("sudo ss -ulpn 'sport = :20808'") == true)
    }

    @Test
    func `a shared port is reported with the other programs`() throws {
        var facts = facts(Self.wired)
        facts.port = .free([.init(name: "Live", process: 1), .init(name: "tactus", process: 2)])
        let found = try finding(.linkPort, facts)
        #expect(found.level == .ok)
        #expect(found.found == "UDP port 20808 is shared by Live (process 1), tactus (process 2)")
        #expect(found.text.withoutNames == "UDP port 20808 is shared by …")
        facts.port = .failing("bind 20808: Permission denied")
        let failing = try finding(.linkPort, facts)
        #expect(failing.level == .problem)
        let unheard = try finding(.linkPeers, facts)
        #expect(unheard.level == .warning && unheard.fix == failing.fix)
        #expect(unheard.fix?.hasSuffix("# shows who has it") == true)
    }

    @Test
    func `peers are counted with their places, sessions and tempos`() throws {
        var second = Self.peer
        second.isHere = true
        var third = Self.peer
        (third.session, third.beatsPerMinute) = ("b", 90)
        #expect(
            try finding(.linkPeers, facts(Self.wired, peers: [Self.peer, second])).found
                == "2 Link programs are heard (1 on this computer, 1 on other computers), one session at 133.7 BPM")
        #expect(
            try finding(.linkPeers, facts(Self.wired, peers: [Self.peer, second, third])).found
                == "3 Link programs are heard (1 on this computer, 2 on other computers), 2 sessions at 90.0 BPM, 133.7 BPM"
        )
    }

    @Test
    func `peers that are heard and do not answer are a network that passes multicast only`() throws {
        var (mute, other) = (Self.peer, Self.peer)
        (mute.address, mute.answers) = ("192.168.7.20", false)
        var found = try finding(.linkPeers, facts(Self.wired, peers: [mute]))
        #expect(found.level == .problem)
        #expect(
            found.found
                == "one Link program is heard (1 on other computers), one session at 133.7 BPM, but what is sent to "
                + "192.168.7.20 alone is not answered: the network passes multicast only, so Tactus cannot play in time "
                + "with them")
        #expect(found.fix?.contains("client isolation") == true && found.fix?.contains("firewall") == true)
        (other.address, other.answers) = ("192.168.7.21", true)
        found = try finding(.linkPeers, facts(Self.wired, peers: [mute, other]))
        #expect(found.level == .warning && found.found.hasSuffix("to 192.168.7.20 alone is not answered"))
        #expect(try finding(.linkPeers, facts(Self.wired, peers: [other])).level == .ok)
    }

    @Test
    func `a crowd of peers is a warning that names its address`() throws {
        var facts = facts(Self.wired, peers: [Self.peer])
        facts.crowd = "10.66.0.1"
        let found = try finding(.linkPeers, facts)
        #expect(found.level == .warning)
        #expect(found.found.hasSuffix("most come from 10.66.0.1"))
    }

    @Test
    func `nobody on a network that works is a warning with what to try`() throws {
        let found = try finding(.linkPeers, facts(Self.wired))
        #expect(found.level == .warning)
        #expect(found.fix?.contains("network of eth0") == true)
        let both = try finding(.linkPeers, facts(Self.wireless, Self.wired))
        #expect(both.fix?.contains("network of eth0") == true, "the cable, as for several networks")
    }
}
