internal import CALSA

extension SequencerControl {
    /// Reads the subscriptions between clients.
    ///
    /// - Parameter ports: a fresh result of ``ports()``.
    /// - Returns: the subscriptions from these ports to ports of other clients, and the owner of every client.
    package func subscriptionGraph(among ports: [PortDescription]) -> SubscriptionGraph {
        var graph = SubscriptionGraph()
        forEachClient { client in
            let number = Int(snd_seq_client_info_get_client(client))
            graph.owners[number] = Self.owner(of: client)
        }
        for port in ports where port.isReadable {
            for receiver in subscribers(of: port.address) {
                graph.subscriptions.insert(.init(from: port.address, to: receiver))
            }
        }
        return graph
    }

    private static func owner(of client: OpaquePointer) -> SubscriptionGraph.Owner {
        let process = Int(snd_seq_client_info_get_pid(client))
        if process > 0 { return .process(process) }
        let card = Int(snd_seq_client_info_get_card(client))
        return card >= 0 ? .card(card) : .client(Int(snd_seq_client_info_get_client(client)))
    }
}
