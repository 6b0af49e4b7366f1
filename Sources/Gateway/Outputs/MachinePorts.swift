internal import ALSASequencer
internal import ConfigurationFiles

/// Which ports lead to one and the same machine: those of a card that a profile recognizes.
///
/// The ports of an interface lead to one machine each.
struct MachinePorts: Sendable {
    private let clients: Set<Int>

    init(_ ports: [PortDescription], library: ProfileLibrary) {
        clients = Set(ports.filter { $0.card != nil && library.profile(of: $0) != nil }.map(\.address.client))
    }

    /// The address that stands for all ports that lead to the same machine.
    func place(of port: PortAddress) -> PortAddress {
        clients.contains(port.client) ? PortAddress(client: port.client, port: 0) : port
    }
}
