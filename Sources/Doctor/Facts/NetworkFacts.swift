/// What was found of the networks, and heard on them.
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
        /// Whether there is somebody at the other end: a cable, an access point.
        var isRunning = true
        /// Whether it is meant to carry multicast.
        var isMulticast = true
        /// Whether there is a device behind it; else it is a program's.
        var isPhysical = true
        var isWireless = false
        /// Whether a wireless one naps; nil if that is not known.
        var savesPower: Bool?
        /// Its networks, such as 192.168.7.0/24.
        var networks: [String] = []
        /// Whether what was sent to Link's group came back here; nil if that could not be tried.
        var hearsItself: Bool?
        /// Why it could not be tried.
        var trouble: String?

        /// Whether Link can use it.
        var isUsable: Bool { isUp && (isLoopback || isRunning) && !networks.isEmpty }
    }

    /// A program, as the system knows it.
    struct Program: Hashable, Comparable {
        var name: String
        var process: Int

        static func < (left: Program, right: Program) -> Bool { left.process < right.process }
    }

    /// Whether the port of Link's group can be had, and which programs have it, as far as this user may know.
    enum Port: Hashable {
        case free([Program])
        case taken([Program])
        /// Anything else, in the system's words.
        case failing(String)
    }

    /// A Link program that was heard.
    struct Peer: Hashable {
        var session: String
        var beatsPerMinute: Double
        /// Whether it runs on this computer.
        var isHere = false
        var interfaces: Set<String> = []
    }

    /// What guards this computer's ports.
    enum Firewall: Hashable {
        case ufw
        case firewalld
        /// Rules of nftables made by hand or by programs not known here, or none.
        case other
    }
}

extension NetworkFacts {
    /// The sockets' inodes of those that hold a UDP port, as `/proc/net/udp` lists them.
    static func inodes(holding port: UInt16, in text: String) -> Set<String> {
        let digits = String(port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: 4 - digits.count) + digits
        let rows = text.split(separator: "\n").dropFirst().map { $0.split(separator: " ") }
        return Set(rows.filter { $0.count > 9 && $0[1].hasSuffix(suffix) }.map { String($0[9]) })
    }

    /// The network of an address, such as 192.168.7.0/24.
    static func network(of address: UInt32, mask: UInt32) -> String {
        let bits = address & mask
        return "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)/\(mask.nonzeroBitCount)"
    }
}
