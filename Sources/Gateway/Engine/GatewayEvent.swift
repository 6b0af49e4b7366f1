internal import ALSASequencer
internal import BeatTime
internal import ClockDispatch
internal import LinkNetwork

/// What the gateway's engine is told.
enum GatewayEvent: Sendable {
    /// The run begins; comes first, and once.
    case started
    /// The newest state of the Link peer; states between may have been skipped.
    case link(LinkState)
    /// What other machines' clocks sent, in the order it came.
    case clocks([ClockInputEvent])
    /// How the raw device is that a clock is read from.
    case clockDevice(ClockInput.Device)
    /// What buttons and pedals sent, in the order it came.
    case controls([ControlArrival])
    /// The sequencer's ports and subscriptions, after any of them has changed.
    case ports(PortList)
    /// A command from outside; the token gets exactly one reply.
    case command(Command, ReplyToken)
    /// The Link peer has done what a command asked of it; news of the effect have come before.
    case done(ReplyToken)
    /// The answers to all questions of the effects before, in their order.
    case answers([GatewayAnswer])
    /// A turn of the loop ends: what has come is dealt with, and time has passed.
    ///
    /// The clock thread announces nothing, so its account is read each time. `watchedAt` is when somebody last watched
    /// the status.
    case turn(ClockAccount, watchedAt: HostTime)
}

/// Stands for whoever waits for a command's outcome.
struct ReplyToken: Hashable, Sendable {
    var number: UInt64
}

/// What became of a question.
enum GatewayAnswer: Sendable {
    /// A subscription is there; `isNew` if it was made for this.
    case subscribed(SubscriptionGraph.Subscription, isNew: Bool)
    case notSubscribed(SubscriptionGraph.Subscription, ALSAError)
    /// A line of an output is open, by that descriptor.
    case opened(OutputPlace, Int32)
    /// Why a line could not be opened.
    case notOpened(OutputPlace, String)
    /// How the driver of an output's device fares; nil where the kernel does not tell.
    case driver(OutputPlace, DriverBuffer?)
    /// The port that hears buttons and pedals.
    case controlsOpened(PortAddress)
    case controlsNotOpened(String)
}

/// Names an output in a question and its answer.
///
/// By the time of the answer the slot may belong to another output.
struct OutputPlace: Hashable, Sendable {
    var slot: Int
    var occupant: UInt32
}
