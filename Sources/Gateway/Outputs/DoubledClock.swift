internal import ALSASequencer
internal import ConfigurationFiles

/// A device that gets the clock twice, and so runs at double tempo.
package struct DoubledClock: Hashable, Sendable {
    var device: String
    /// The outputs it receives from; the first is the one to keep.
    var outputs: [String]
    /// Another run that sends to it, too.
    var otherRun: OtherRun?
    /// The sender of the subscription to remove.
    var sender: PortAddress
    var receiver: PortAddress

    /// Finds all such devices.
    ///
    /// They are ports that receive from several outputs, or also from another run of this program, and recognized devices of
    /// which several ports do so. A port that only its own program can subscribe is none: the bridges of PipeWire and JACK
    /// subscribe one to every output, and keep apart what it receives.
    ///
    /// - Parameters:
    ///   - outputs: in the order of their slots.
    ///   - subscribers: who hears each output, by slot.
    ///   - ports: all ports.
    ///   - machines: which of them lead to one machine.
    ///   - others: other runs that send to devices.
    /// - Returns: one entry for each device, in the order of their numbers.
    static func all(
        _ outputs: [Output], subscribers: [Int: [PortAddress]], among ports: [PortDescription],
        machines: MachinePorts, others: OtherRuns
    ) -> [DoubledClock] {
        var hearers: [PortAddress: [(slot: Int, port: PortDescription)]] = [:]
        for (slot, addresses) in subscribers where outputs[slot].isEnabled && outputs[slot].isClock {
            for address in addresses {
                guard let port = ports.first(where: { $0.address == address }), port.isWritable else { continue }
                hearers[machines.place(of: address), default: []].append((slot, port))
            }
        }
        return hearers.sorted { ($0.key.client, $0.key.port) < ($1.key.client, $1.key.port) }
            .compactMap { DoubledClock($0.value, outputs, others.sending(to: $0.key)) }
    }

    private init?(_ hearers: [(slot: Int, port: PortDescription)], _ outputs: [Output], _ otherRun: OtherRun?) {
        // Keep the output that was made for the device; extra subscriptions are the user's.
        let sorted = hearers.sorted {
            (outputs[$0.slot].hasOneDevice ? 0 : 1, $0.slot) < (outputs[$1.slot].hasOneDevice ? 0 : 1, $1.slot)
        }
        guard sorted.count > 1 || otherRun != nil, let last = sorted.last, let source = outputs[last.slot].source else {
            return nil
        }
        device = last.port.fullName
        self.otherRun = otherRun
        self.outputs = sorted.map { outputs[$0.slot].name }
        (sender, receiver) = (source, last.port.address)
    }
}
