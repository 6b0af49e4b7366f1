internal import ALSASequencer
internal import Arbiter
internal import DeviceProfiles

/// A device that hears the clock from several outputs, or at several of its ports, and so runs at twice the tempo.
struct DoubledClock: Hashable, Sendable {
    var device: String
    /// The outputs, the one to keep first.
    var outputs: [String]
    /// The subscription to undo.
    var sender: PortAddress
    var receiver: PortAddress

    /// Finds all such devices: ports that hear several outputs, and devices that a profile recognises of which several
    /// ports hear one.
    ///
    /// - Parameters:
    ///   - outputs: in the order of their slots.
    ///   - subscribers: who hears each output, by slots.
    ///   - ports: all there are.
    ///   - library: the profiles.
    /// - Returns: one for each device, in the order of their names.
    static func all(
        _ outputs: [Output], subscribers: [Int: [PortAddress]], among ports: [PortDescription],
        library: ProfileLibrary
    ) -> [DoubledClock] {
        var hearers: [PortAddress: [(slot: Int, port: PortDescription)]] = [:]
        for (slot, addresses) in subscribers where outputs[slot].isEnabled {
            for address in addresses {
                guard let port = ports.first(where: { $0.address == address }) else { continue }
                hearers[key(of: port, library), default: []].append((slot, port))
            }
        }
        return hearers.values.compactMap { DoubledClock($0, outputs) }.sorted { $0.device < $1.device }
    }

    /// The port itself, or the whole device it belongs to where that is known to be one machine.
    private static func key(of port: PortDescription, _ library: ProfileLibrary) -> PortAddress {
        let isOneMachine = port.card != nil && library.profile(of: port) != nil
        return isOneMachine ? PortAddress(client: port.address.client, port: 0) : port.address
    }

    private init?(_ hearers: [(slot: Int, port: PortDescription)], _ outputs: [Output]) {
        // The output made for the device is the one to keep; what the user subscribed besides is one too many.
        let sorted = hearers.sorted {
            (outputs[$0.slot].hasOneDevice ? 0 : 1, $0.slot) < (outputs[$1.slot].hasOneDevice ? 0 : 1, $1.slot)
        }
        guard sorted.count > 1, let last = sorted.last, let source = outputs[last.slot].source else { return nil }
        device = last.port.fullName
        self.outputs = sorted.map { outputs[$0.slot].name }
        (sender, receiver) = (source, last.port.address)
    }

    var warning: Status.Warning {
        .init(
            code: "clock-twice",
            message: "\(device) hears the clock twice, from \(outputs.joined(separator: " and ")), and runs too fast",
            fix: "aconnect -d \(sender) \(receiver)")
    }
}
