internal import ALSASequencer

/// Who hears whom on the sequencer, and what the gateway has changed and wants changed in it.
///
/// Outputs, inputs and controls say what they want each time the ports change. What is not there yet becomes a
/// ``GatewayQuestion``; its answer is noted here, and then they look again.
struct Patchbay: Sendable {
    typealias Subscription = SubscriptionGraph.Subscription

    /// The ports and subscriptions there are.
    private(set) var list = PortList()
    /// The subscriptions that the gateway has made; others are never undone.
    private(set) var made: Set<Subscription> = []
    /// The subscriptions that the kernel has refused since the ports changed last, and why.
    private var refused: [Subscription: ALSAError] = [:]
    /// Those that are asked for.
    private var asked: Set<Subscription> = []

    /// How a wanted subscription stands.
    enum State {
        case there
        case asked
        case refused(ALSAError)
    }

    /// Takes over a new list; what was refused may be tried again.
    mutating func replace(_ list: PortList) {
        self.list = list
        made.formIntersection(list.graph.subscriptions)
        retry()
    }

    /// Forgets a port that has gone since the list was read.
    mutating func forget(_ port: PortAddress) {
        list.remove(port)
        made.formIntersection(list.graph.subscriptions)
    }

    /// Whether another program has something to itself that is wanted; nobody announces that it is let go.
    var isSomethingTaken: Bool { refused.values.contains(where: \.isTaken) }

    /// Allows what was refused to be tried again.
    mutating func retry() { refused = [:] }

    /// Has a subscription made unless it is there.
    ///
    /// - Parameters:
    ///   - subscription: one that is wanted.
    ///   - effects: receives the question.
    /// - Returns: how it stands.
    mutating func subscribe(_ subscription: Subscription, _ effects: inout GatewayEffects) -> State {
        if list.graph.subscriptions.contains(subscription) { return .there }
        if let error = refused[subscription] { return .refused(error) }
        if asked.insert(subscription).inserted { effects.questions.append(.subscribe(subscription)) }
        return .asked
    }

    /// Undoes the subscriptions that the gateway has made from or to some port, but for some.
    mutating func unsubscribe(
        except wanted: Set<Subscription>, where isConcerned: (Subscription) -> Bool, _ effects: inout GatewayEffects
    ) {
        for subscription in made.subtracting(wanted).filter(isConcerned).sorted() {
            made.remove(subscription)
            list.graph.subscriptions.remove(subscription)
            effects.unsubscriptions.append(subscription)
        }
    }

    /// Notes that a subscription is there.
    ///
    /// - Parameters:
    ///   - subscription: one that was asked for.
    ///   - isNew: whether the gateway has made it; else somebody was faster.
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
