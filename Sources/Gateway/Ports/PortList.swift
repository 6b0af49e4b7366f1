internal import ALSASequencer

/// The sequencer's ports and subscriptions at one moment, as all parts of the gateway see them.
struct PortList: Hashable, Sendable {
    /// All ports that others may use, in the order of their numbers.
    var ports: [PortDescription] = []
    var graph = SubscriptionGraph()

    subscript(address: PortAddress) -> PortDescription? { ports.first { $0.address == address } }

    /// Removes a port, and with it what it hears and sends.
    mutating func remove(_ address: PortAddress) {
        ports.removeAll { $0.address == address }
        graph.subscriptions = graph.subscriptions.filter { $0.sender != address && $0.receiver != address }
    }

    /// The ports that take messages, without those of some clients.
    func receivers(except clients: Set<Int>) -> [PortDescription] {
        ports.filter { $0.isWritable && !clients.contains($0.address.client) }
    }

    /// The ports that send messages, without those of some clients.
    func senders(except clients: Set<Int>) -> [PortDescription] {
        ports.filter { $0.isReadable && !clients.contains($0.address.client) }
    }

    /// The ports that receive what a port sends, in the order of their numbers.
    func subscribers(of sender: PortAddress) -> [PortAddress] {
        graph.subscriptions.filter { $0.sender == sender }.map(\.receiver).sorted()
    }

    /// The ports that a port receives from, in the order of their numbers.
    func senders(to receiver: PortAddress) -> [PortAddress] {
        graph.subscriptions.filter { $0.receiver == receiver }.map(\.sender).sorted()
    }
}

extension PortList {
    /// Reads what there is now.
    ///
    /// - Parameters:
    ///   - control: lists ports and subscriptions.
    ///   - inputs: ports of our own; programs may send there by ports that they show to nobody.
    init(_ control: SequencerControl, inputs: [PortAddress]) {
        ports = control.ports()
        graph = control.subscriptionGraph(among: ports)
        for input in inputs {
            for sender in control.senders(to: input) { graph.subscriptions.insert(.init(from: sender, to: input)) }
        }
    }
}
