internal import ALSASequencer

/// The sequencer's subscriptions: present, made by the gateway, and wanted.
///
/// Outputs, inputs and controls state what they want after each change of the ports. What is missing becomes a
/// ``GatewayQuestion``. Its answer is noted here, and then they check again.
struct Patchbay: Sendable {
    typealias Subscription = SubscriptionGraph.Subscription

    /// The present ports and subscriptions.
    private(set) var list = PortList()
    /// Subscriptions made by the gateway; it never removes others.
    private(set) var made: Set<Subscription> = []
    /// Subscriptions that the kernel has refused since the last change of the ports, and why.
    private var refused: [Subscription: ALSAError] = [:]
    /// Subscriptions that were asked for, without an answer yet.
    private var asked: Set<Subscription> = []

    /// The state of a wanted subscription.
    enum State {
        case there
        case asked
        case refused(ALSAError)
    }

    /// Takes a new list; refused subscriptions may be tried again.
    mutating func replace(_ list: PortList) {
        self.list = list
        made.formIntersection(list.graph.subscriptions)
        retry()
    }

    /// Forgets a port that was deleted since the list was read.
    mutating func forget(_ port: PortAddress) {
        list.remove(port)
        made.formIntersection(list.graph.subscriptions)
    }

    /// Whether another program has exclusive use of something wanted; its release is not announced.
    var isSomethingTaken: Bool { refused.values.contains(where: \.isTaken) }

    /// Lets refused subscriptions be tried again.
    mutating func retry() { refused = [:] }

    /// Asks for a subscription unless it exists.
    ///
    /// - Parameters:
    ///   - subscription: one that is wanted.
    ///   - effects: receives the question.
    /// - Returns: its state.
    mutating func subscribe(_ subscription: Subscription, _ effects: inout GatewayEffects) -> State {
        if list.graph.subscriptions.contains(subscription) { return .there }
        if let error = refused[subscription] { return .refused(error) }
        if asked.insert(subscription).inserted { effects.questions.append(.subscribe(subscription)) }
        return .asked
    }

    /// Removes the gateway's own subscriptions from or to a port, with exceptions.
    mutating func unsubscribe(
        except wanted: Set<Subscription>, where isConcerned: (Subscription) -> Bool, _ effects: inout GatewayEffects
    ) {
        for subscription in made.subtracting(wanted).filter(isConcerned).sorted() {
            made.remove(subscription)
            list.graph.subscriptions.remove(subscription)
            effects.unsubscriptions.append(subscription)
        }
    }

    /// Notes that a subscription exists.
    ///
    /// - Parameters:
    ///   - subscription: one that was asked for.
    ///   - isNew: whether the gateway made it; false if somebody was faster.
    mutating func subscribed(_ subscription: Subscription, isNew: Bool) {
        asked.remove(subscription)
        list.graph.subscriptions.insert(subscription)
        if isNew { made.insert(subscription) }
    }

    /// Notes that a subscription was refused.
    mutating func refused(_ subscription: Subscription, because error: ALSAError) {
        asked.remove(subscription)
        refused[subscription] = error
    }
}
