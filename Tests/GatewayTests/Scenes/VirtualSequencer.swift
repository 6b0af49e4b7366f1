import ALSASequencer

@testable import Gateway

/// A simulated kernel sequencer: its ports and the subscriptions between them.
struct VirtualSequencer {
    typealias Subscription = SubscriptionGraph.Subscription

    private var list = PortList()
    /// Ports to which another program has exclusive write access.
    var taken: Set<PortAddress> = []
    /// Ports from which another program has exclusive read access.
    var takenSenders: Set<PortAddress> = []
    /// Ports of devices that are connected but accept no messages.
    var stuck: Set<PortAddress> = []
    /// Ports that are not listed; only their owners can connect them.
    private var hidden: Set<PortAddress> = []
    /// Ports that were removed, but whose machines' states are not discarded yet.
    var unplugged: Set<PortAddress> = []
    /// Whether anything has changed since the list was last read.
    private(set) var hasAnnouncement = true

    var ports: [PortDescription] { list.ports }
    var subscriptions: Set<Subscription> { list.graph.subscriptions }

    /// Adds a port, as when a machine is plugged in or a program creates it.
    mutating func plug(_ port: PortDescription) {
        list.ports.append(port)
        list.ports.sort { $0.address < $1.address }
        hasAnnouncement = true
    }

    /// Adds a hidden port.
    mutating func hide(_ address: PortAddress) { hidden.insert(address) }

    /// Removes a port and its subscriptions.
    mutating func unplug(_ address: PortAddress) {
        list.remove(address)
        unplugged.insert(address)
        hasAnnouncement = true
    }

    /// Removes all ports of a client.
    mutating func unplug(client: Int) {
        for port in ports where port.address.client == client { unplug(port.address) }
    }

    /// Adds a subscription.
    ///
    /// - Returns: whether it is new.
    /// - Throws: the kernel's errors: -22 if a port does not exist, -16 if one is in exclusive use.
    mutating func subscribe(_ subscription: Subscription) throws(ALSAError) -> Bool {
        let addresses = hidden.union(ports.map(\.address))
        guard addresses.contains(subscription.sender), addresses.contains(subscription.receiver) else {
            throw ALSAError(operation: "snd_seq_subscribe_port", code: -22)
        }
        guard !taken.contains(subscription.receiver), !takenSenders.contains(subscription.sender) else {
            throw ALSAError(operation: "snd_seq_subscribe_port", code: -16)
        }
        hasAnnouncement = true
        return list.graph.subscriptions.insert(subscription).inserted
    }

    mutating func unsubscribe(_ subscription: Subscription) {
        if list.graph.subscriptions.remove(subscription) != nil { hasAnnouncement = true }
    }

    /// Reads the port list, and clears `hasAnnouncement`.
    mutating func read() -> PortList {
        hasAnnouncement = false
        return list
    }
}
