/// Who hears whom on the sequencer, and which clients belong to one thing.
package struct SubscriptionGraph: Hashable, Sendable {
    /// What stands behind a client: what one of its ports takes, any of its ports may give again.
    package enum Box: Hashable, Sendable {
        /// A sound card: the device behind a cable.
        case card(Int)
        /// A program, with all clients it has opened.
        case process(Int)
        /// A client of the kernel's own, such as Midi Through.
        case client(Int)
    }

    /// One port hearing another.
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

    /// The boxes by the numbers of their clients; a client that is not in it stands for itself.
    package var boxes: [Int: Box]
    package var subscriptions: Set<Subscription>

    package init(boxes: [Int: Box] = [:], subscriptions: Set<Subscription> = []) {
        self.boxes = boxes
        self.subscriptions = subscriptions
    }

    /// The box a client belongs to.
    package func box(of client: Int) -> Box { boxes[client] ?? .client(client) }

    /// Those of our own ports whose messages can come back to us from a source.
    ///
    /// A port reaches the source if a way of subscriptions leads from it into the source's box. What runs through the
    /// client of `ports` itself, or any other of the same program, is no such way: it knows what it sends. A source that
    /// is one of `ports` is reached by itself alone.
    ///
    /// - Parameters:
    ///   - ports: output ports of one program.
    ///   - source: the port that a clock comes from.
    /// - Returns: those that reach it, in their order.
    package func outputs(among ports: [PortAddress], reaching source: PortAddress) -> [PortAddress] {
        ports.filter { way(from: $0, to: source) != nil }
    }

    /// The shortest way that messages may take from one of our own ports into the box of a source.
    ///
    /// - Parameters:
    ///   - port: the port of ours.
    ///   - source: the port that a clock comes from.
    /// - Returns: the subscriptions from one box to the next; none if the source is the port itself, nil if no way is
    ///   there.
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

    /// The boxes not seen before that subscriptions lead to.
    private func step(
        from edges: Set<Subscription>, behind way: [Subscription], _ seen: inout Set<Box>
    ) -> [Box: [Subscription]] {
        var reached: [Box: [Subscription]] = [:]
        // In a fixed order, so that of two equal ways it is always the same one.
        for edge in edges.sorted() where seen.insert(box(of: edge.receiver.client)).inserted {
            reached[box(of: edge.receiver.client)] = way + [edge]
        }
        return reached
    }
}
