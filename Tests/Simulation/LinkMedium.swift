package import LinkSession

/// Carries the datagrams of Link engines over virtual networks, like their sockets.
///
/// A node has one address on each of its networks: `10.network.0.(node + 1)`.
package struct LinkMedium: Sendable {
    /// Delay, loss and separation; the same for all networks.
    package var network: VirtualNetwork
    /// Whether what is sent to one node alone is lost, as behind some access points.
    package var losesUnicast = false
    /// The nodes on each network.
    private var plugged: [[Int]]

    private static let discoveryPort: UInt16 = 40_000
    private static let measurementPort: UInt16 = 50_000

    /// A datagram in transit.
    package struct Delivery: Sendable {
        package let node: Int
        package let interface: IPAddress
        package let channel: Channel
        package let source: Endpoint
        package let bytes: [UInt8]
    }

    package init(network: VirtualNetwork, networkCount: Int = 1) {
        self.network = network
        plugged = Array(repeating: [], count: networkCount)
    }

    package static func address(of node: Int, on network: Int = 0) -> IPAddress {
        .v4(10, UInt8(truncatingIfNeeded: network), 0, UInt8(truncatingIfNeeded: node + 1))
    }

    package static func measurementEndpoint(of node: Int, on network: Int = 0) -> Endpoint {
        Endpoint(address: address(of: node, on: network), port: measurementPort)
    }

    package mutating func plug(_ node: Int, into network: Int = 0) {
        if !plugged[network].contains(node) { plugged[network].append(node) }
    }

    package mutating func unplug(_ node: Int, from network: Int = 0) { plugged[network].removeAll { $0 == node } }

    /// The arrivals of a datagram that a node sends.
    package mutating func carry(
        _ datagram: Datagram, from node: Int, at time: WorldTime
    ) -> [(time: WorldTime, delivery: Delivery)] {
        guard !losesUnicast || datagram.destination == .group else { return [] }
        guard let home = plugged.indices.first(where: { Self.address(of: node, on: $0) == datagram.interface }),
            plugged[home].contains(node)
        else { return [] }
        let isDiscovery = datagram.channel == .discovery
        let source = Endpoint(
            address: datagram.interface, port: isDiscovery ? Self.discoveryPort : Self.measurementPort)
        var arrivals: [(time: WorldTime, delivery: Delivery)] = []
        for receiver in plugged[home] where receiver != node {
            let address = Self.address(of: receiver, on: home)
            guard let channel = Self.channel(of: datagram.destination, at: address) else { continue }
            let delivery = Delivery(
                node: receiver, interface: address, channel: channel, source: source, bytes: datagram.bytes)
            let isToEveryone = datagram.destination == .group
            arrivals += network.arrivals(from: node, to: receiver, isToEveryone: isToEveryone, sentAt: time)
                .map { ($0, delivery) }
        }
        return arrivals
    }

    /// The socket of an address at which a datagram arrives, if any.
    private static func channel(of destination: Datagram.Destination, at address: IPAddress) -> Channel? {
        switch destination {
        case .group: .discovery
        case .peer(Endpoint(address: address, port: discoveryPort)): .discovery
        case .peer(Endpoint(address: address, port: measurementPort)): .measurement
        case .peer: nil
        }
    }
}
