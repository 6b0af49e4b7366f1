/// Facts about the networks, and what was heard on them.
struct NetworkFacts {
    var interfaces: [Interface] = []
    var port = Port.free([])
    var peers: [Peer] = []
    /// The address that most peers announce themselves from, if they are more than can be real.
    var crowd: String?
    var firewall = Firewall.other

    /// A network interface.
    struct Interface: Hashable {
        var name: String
        var isLoopback = false
        var isUp = true
        /// Whether it has a link: a cable or an access point.
        var isRunning = true
        /// Whether it is set up for multicast.
        var isMulticast = true
        /// Whether it is a device rather than made by a program.
        var isPhysical = true
        var isWireless = false
        /// Whether a Wi-Fi interface saves power; nil if unknown.
        var savesPower: Bool?
        /// Its networks, such as 192.168.7.0/24.
        var networks: [String] = []
        /// Whether a datagram sent to Link's group came back; nil if that could not be tried.
        var hearsItself: Bool?
        /// Why it could not be tried.
        var trouble: String?

        /// Whether Link can use it.
        var isUsable: Bool { isUp && (isLoopback || isRunning) && !networks.isEmpty }
    }

    /// A running program.
    struct Program: Hashable, Comparable {
        var name: String
        var process: Int

        static func < (left: Program, right: Program) -> Bool { left.process < right.process }
    }

    /// Whether the port of Link's group is available.
    enum Port: Hashable {
        /// The programs that use it, too, as far as visible.
        case free([Program])
        /// The programs that keep it from others, as far as visible.
        case taken([Program])
        /// Any other error, in the system's words.
        case failing(String)
    }

    /// A Link program that was heard.
    struct Peer: Hashable {
        var session: String
        var beatsPerMinute: Double
        /// Whether it runs on this computer.
        var isHere = false
        var interfaces: Set<String> = []
        var address = ""
        /// Whether it answers what is sent to it alone; nil if it was not asked.
        var answers: Bool?
    }

    /// The firewall program in use.
    enum Firewall: Hashable {
        case ufw
        case firewalld
        /// Rules of nftables made by hand or by unknown programs, or none.
        case other
    }
}

extension NetworkFacts {
    /// The network of an address, such as 192.168.7.0/24.
    static func network(of address: UInt32, mask: UInt32) -> String {
        let bits = address & mask
        return "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)/\(mask.nonzeroBitCount)"
    }
}
