internal import ALSASequencer

/// The sequencer's ports and subscriptions at one moment, the same for all parts of the gateway.
struct PortList: Hashable, Sendable {
    /// All ports that others may use, ordered by number.
    var ports: [PortDescription] = []
    var graph = SubscriptionGraph()

    subscript(address: PortAddress) -> PortDescription? { ports.first { $0.address == address } }

    /// Removes a port and its subscriptions.
    mutating func remove(_ address: PortAddress) {
        ports.removeAll { $0.address == address }
        graph.subscriptions = graph.subscriptions.filter { $0.sender != address && $0.receiver != address }
    }

    /// The ports that accept messages, except those of some clients.
    func receivers(except clients: Set<Int>) -> [PortDescription] {
        ports.filter { $0.isWritable && !clients.contains($0.address.client) }
    }

    /// The ports that send messages, except those of some clients.
    func senders(except clients: Set<Int>) -> [PortDescription] {
        ports.filter { $0.isReadable && !clients.contains($0.address.client) }
    }

    /// The ports that receive from a port, ordered by number.
    func subscribers(of sender: PortAddress) -> [PortAddress] {
        graph.subscriptions.filter { $0.sender == sender }.map(\.receiver).sorted()
    }

    /// The ports that a port receives from, ordered by number.
    func senders(to receiver: PortAddress) -> [PortAddress] {
        graph.subscriptions.filter { $0.receiver == receiver }.map(\.sender).sorted()
    }
}

extension PortList {
    /// Reads the present state.
    ///
    /// - Parameters:
    ///   - control: lists ports and subscriptions.
    ///   - inputs: our own input ports; programs may send to them from hidden ports.
    init(_ control: SequencerControl, inputs: [PortAddress]) {
        ports = control.ports()
        graph = control.subscriptionGraph(among: ports)
        for input in inputs {
            for sender in control.senders(to: input) { graph.subscriptions.insert(.init(from: sender, to: input)) }
        }
    }
}
