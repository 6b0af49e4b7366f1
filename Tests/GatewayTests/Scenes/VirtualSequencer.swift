import ALSASequencer

@testable import Gateway

/// The kernel's sequencer as a value: clients that come and go, their ports, and who hears whom.
struct VirtualSequencer {
    typealias Subscription = SubscriptionGraph.Subscription

    private var list = PortList()
    /// The ports that another program has to itself.
    var taken: Set<PortAddress> = []
    /// Likewise, for those that nobody else may hear.
    var takenSenders: Set<PortAddress> = []
    /// The ports of devices that are there and take nothing.
    var stuck: Set<PortAddress> = []
    /// The ports that are not listed, whose owners may connect them.
    private var hidden: Set<PortAddress> = []
    /// The ports that have gone and whose machines have not been forgotten yet.
    var unplugged: Set<PortAddress> = []
    /// Whether anything has changed since the list was read last.
    private(set) var hasAnnouncement = true

    var ports: [PortDescription] { list.ports }
    var subscriptions: Set<Subscription> { list.graph.subscriptions }

    /// A machine is plugged in, or a program makes a port.
    mutating func plug(_ port: PortDescription) {
        list.ports.append(port)
        list.ports.sort { $0.address < $1.address }
        hasAnnouncement = true
    }

    /// A program makes a port that it shows to nobody.
    mutating func hide(_ address: PortAddress) { hidden.insert(address) }

    /// A port goes, and with it what it heard and sent.
    mutating func unplug(_ address: PortAddress) {
        list.remove(address)
        unplugged.insert(address)
        hasAnnouncement = true
    }

    /// Subscribes as the kernel does.
    ///
    /// - Returns: whether it is new.
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

    /// Reads what there is.
    mutating func read() -> PortList {
        hasAnnouncement = false
        return list
    }
}
