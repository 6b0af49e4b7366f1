import ALSASequencer
import Gateway

/// The ports that `tactus learn` listens to, as they appear and disappear.
struct HeardPorts {
    private(set) var ports: [PortDescription] = []

    /// Takes the ports that exist now.
    ///
    /// - Parameters:
    ///   - present: all ports of the sequencer.
    ///   - hear: subscribes a port, even if already subscribed; false if refused. It is tried again after each change.
    /// - Returns: the changes, one line each.
    mutating func update(_ present: [PortDescription], hear: (PortAddress) -> Bool) -> [String] {
        let old = ports
        ports = present.filter {
            $0.isReadable && $0.isUsable && !$0.clientName.hasPrefix("Tactus") && hear($0.address)
        }
        return lines("appeared", Self.added(to: old, in: ports), among: ports)
            + lines("is gone", Self.added(to: ports, in: old), among: old)
    }

    /// The ports listened to, as text.
    var line: String {
        let names = ports.map { $0.plainestName(among: ports) }.joined(separator: ", ")
        return ports.isEmpty ? "no port to listen to yet; connect the device to press" : "listening to \(names)"
    }

    private func lines(_ what: String, _ changed: [PortDescription], among ports: [PortDescription]) -> [String] {
        changed.map { "\($0.plainestName(among: ports)) \(what)" }
    }

    private static func added(to old: [PortDescription], in new: [PortDescription]) -> [PortDescription] {
        new.filter { !old.contains($0) }
    }
}
