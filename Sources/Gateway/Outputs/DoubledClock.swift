internal import ALSASequencer
internal import ConfigurationFiles
internal import GatewayStatus

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
    /// - Returns: one for each device, in the order of their numbers.
    static func all(
        _ outputs: [Output], subscribers: [Int: [PortAddress]], among ports: [PortDescription],
        library: ProfileLibrary
    ) -> [DoubledClock] {
        let machines = Set(
            ports.filter { $0.card != nil && library.profile(of: $0) != nil }.map(\.address.client))
        var hearers: [PortAddress: [(slot: Int, port: PortDescription)]] = [:]
        for (slot, addresses) in subscribers where outputs[slot].isEnabled {
            for address in addresses {
                guard let port = ports.first(where: { $0.address == address }) else { continue }
                // Known to be one machine, it hears the clock by whichever port.
                let isOneMachine = machines.contains(address.client)
                let hearer = isOneMachine ? PortAddress(client: address.client, port: 0) : address
                hearers[hearer, default: []].append((slot, port))
            }
        }
        return hearers.sorted { ($0.key.client, $0.key.port) < ($1.key.client, $1.key.port) }
            .compactMap { DoubledClock($0.value, outputs) }
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
