/// The sequencer's subscriptions, and which clients belong together.
package struct SubscriptionGraph: Hashable, Sendable {
    /// Who a client belongs to: what arrives at one port of an owner may leave from any other.
    package enum Owner: Hashable, Sendable {
        /// A sound card, together with the device at its cable.
        case card(Int)
        /// A program, with all its clients.
        case process(Int)
        /// A client of the kernel's own, such as Midi Through.
        case client(Int)
    }

    /// A port that receives from another.
    package struct Subscription: Hashable, Sendable, Comparable {
        package var sender: PortAddress
        package var receiver: PortAddress

        package init(from sender: PortAddress, to receiver: PortAddress) {
            self.sender = sender
            self.receiver = receiver
        }

        package static func < (left: Subscription, right: Subscription) -> Bool {
            (left.sender, left.receiver) < (right.sender, right.receiver)
        }
    }

    /// The owners by client number; a client that is not listed is its own owner.
    package var owners: [Int: Owner]
    package var subscriptions: Set<Subscription>

    package init(owners: [Int: Owner] = [:], subscriptions: Set<Subscription> = []) {
        self.owners = owners
        self.subscriptions = subscriptions
    }

    /// Who a client belongs to.
    package func owner(of client: Int) -> Owner { owners[client] ?? .client(client) }

    /// Those of our own ports whose messages may come back to us from a source.
    ///
    /// A port reaches the source if subscriptions lead from it to any client of the source's owner. Paths through the
    /// client of `ports`, or through another client of the same program, do not count: that program knows what it
    /// sends. A source that is one of `ports` is reached only by itself.
    ///
    /// - Parameters:
    ///   - ports: output ports of one program.
    ///   - source: the port that a clock comes from.
    /// - Returns: the ports that reach it, in order.
    package func outputs(among ports: [PortAddress], reaching source: PortAddress) -> [PortAddress] {
        ports.filter { path(from: $0, to: source) != nil }
    }

    /// The shortest path from one of our own ports to the owner of a source.
    ///
    /// - Parameters:
    ///   - port: our port.
    ///   - source: the port that a clock comes from.
    /// - Returns: the subscriptions from owner to owner; empty if the source is the port itself, nil if there is no
    ///   path.
    package func path(from port: PortAddress, to source: PortAddress) -> [Subscription]? {
        if source == port { return [] }
        let ourselves = owner(of: port.client)
        let goal = owner(of: source.client)
        guard goal != ourselves else { return nil }
        var seen: Set<Owner> = [ourselves]
        var reached = step(from: subscriptions.filter { $0.sender == port }, extending: [], &seen)
        while !reached.isEmpty {
            if let path = reached[goal] { return path }
            var next: [Owner: [Subscription]] = [:]
            for (here, path) in reached {
                let onwards = subscriptions.filter { owner(of: $0.sender.client) == here }
                next.merge(step(from: onwards, extending: path, &seen)) { first, _ in first }
            }
            reached = next
        }
        return nil
    }

    /// The owners that subscriptions lead to and that were not visited before, with the path to each.
    private func step(
        from edges: Set<Subscription>, extending path: [Subscription], _ seen: inout Set<Owner>
    ) -> [Owner: [Subscription]] {
        var reached: [Owner: [Subscription]] = [:]
        // In a fixed order, so that of two equally short paths the same one is always chosen.
        for edge in edges.sorted() where seen.insert(owner(of: edge.receiver.client)).inserted {
            reached[owner(of: edge.receiver.client)] = path + [edge]
        }
        return reached
    }
}
