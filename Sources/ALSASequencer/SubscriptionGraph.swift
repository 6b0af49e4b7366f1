/// The sequencer's subscriptions, and which clients belong together.
package struct SubscriptionGraph: Hashable, Sendable {
    /// The owner of a client: what arrives at one of its ports may leave from any of its ports.
    package enum Box: Hashable, Sendable {
        /// A sound card, for the device behind a cable.
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

    /// The boxes by client number; a client that is not listed is a box of its own.
    package var boxes: [Int: Box]
    package var subscriptions: Set<Subscription>

    package init(boxes: [Int: Box] = [:], subscriptions: Set<Subscription> = []) {
        self.boxes = boxes
        self.subscriptions = subscriptions
    }

    /// The box that a client belongs to.
    package func box(of client: Int) -> Box { boxes[client] ?? .client(client) }

    /// Those of our own ports whose messages may come back to us from a source.
    ///
    /// A port reaches the source if subscriptions lead from it into the source's box. Ways through the client of
    /// `ports`, or through another client of the same program, do not count: that program knows what it sends. A source
    /// that is one of `ports` is reached only by itself.
    ///
    /// - Parameters:
    ///   - ports: output ports of one program.
    ///   - source: the port that a clock comes from.
    /// - Returns: the ports that reach it, in order.
    package func outputs(among ports: [PortAddress], reaching source: PortAddress) -> [PortAddress] {
        ports.filter { way(from: $0, to: source) != nil }
    }

    /// The shortest way from one of our own ports into the box of a source.
    ///
    /// - Parameters:
    ///   - port: our port.
    ///   - source: the port that a clock comes from.
    /// - Returns: the subscriptions from box to box; empty if the source is the port itself, nil if there is no way.
    package func way(from port: PortAddress, to source: PortAddress) -> [Subscription]? {
        if source == port { return [] }
        let ourBox = box(of: port.client)
        let goal = box(of: source.client)
        guard goal != ourBox else { return nil }
        var seen: Set<Box> = [ourBox]
        var reached = step(from: subscriptions.filter { $0.sender == port }, behind: [], &seen)
        while !reached.isEmpty {
            if let way = reached[goal] { return way }
            var next: [Box: [Subscription]] = [:]
            for (here, way) in reached {
                let onwards = subscriptions.filter { box(of: $0.sender.client) == here }
                next.merge(step(from: onwards, behind: way, &seen)) { first, _ in first }
            }
            reached = next
        }
        return nil
    }

    /// The boxes that subscriptions lead to and that were not visited before.
    private func step(
        from edges: Set<Subscription>, behind way: [Subscription], _ seen: inout Set<Box>
    ) -> [Box: [Subscription]] {
        var reached: [Box: [Subscription]] = [:]
        // In a fixed order, so that of two equal ways the same one is always chosen.
        for edge in edges.sorted() where seen.insert(box(of: edge.receiver.client)).inserted {
            reached[box(of: edge.receiver.client)] = way + [edge]
        }
        return reached
    }
}
