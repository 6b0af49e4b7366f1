internal import ALSASequencer
internal import BeatTime
internal import CardOutput
internal import ClockDispatch
internal import LinkNetwork
internal import LinkSession

/// An event for the gateway's engine.
enum GatewayEvent: Sendable {
    /// The run begins; comes first, and once.
    case started
    /// The newest state of the Link peer; states in between may have been skipped.
    case link(LinkState)
    /// Changes of the Link peer or of the raw device were lost; this is the present state.
    case lost(Present)
    /// The states of the sound cards that outputs play on, by their names.
    case cards([String: OutputCard.State])
    /// What other machines' clocks sent, in order.
    case clocks([ClockInputEvent])
    /// The state of the raw device that a clock is read from.
    case clockDevice(ClockInput.Device)
    /// What buttons and pedals sent, in order.
    case controls([ControlArrival])
    /// The sequencer's ports and subscriptions, after any change.
    case ports(PortList)
    /// A command from outside; the token gets exactly one reply.
    case command(Command, ReplyToken)
    /// The Link peer has done what a command asked; its new state came before this.
    case done(ReplyToken)
    /// The Link peer could not make an edit; the command's token, if it was one's.
    case refused(EditRefusal, ReplyToken?)
    /// The answers to all questions of the previous effects, in order.
    case answers([GatewayAnswer])
    /// The end of a turn of the loop: all events were handled, and time has passed.
    ///
    /// The output thread announces nothing, so its report is read on each turn. `watchedAt` is when somebody last
    /// watched the status.
    case turn(OutputReport, watchedAt: HostTime)

    /// The present state of what otherwise reports its changes.
    struct Present: Sendable {
        var link: LinkState
        /// Nil without an input for clocks.
        var clockDevice: ClockInput.Device?
    }
}

/// Stands for the sender of a command, who waits for its result.
struct ReplyToken: Hashable, Sendable {
    var number: UInt64
}

/// The answer to a question.
enum GatewayAnswer: Sendable {
    /// The subscription exists; `isNew` if it was made for this question.
    case subscribed(SubscriptionGraph.Subscription, isNew: Bool)
    case notSubscribed(SubscriptionGraph.Subscription, ALSAError)
    /// The output's line is open, with this descriptor.
    case opened(OutputPlace, Int32)
    /// Why a line could not be opened.
    case notOpened(OutputPlace, RawLine.OpenError)
    /// The state of the driver of an output's device; nil if the kernel does not tell.
    case driver(OutputPlace, DriverBuffer?)
    /// The port that receives buttons and pedals.
    case controlsOpened(PortAddress)
    case controlsNotOpened(ALSAError)
}

/// Identifies an output in a question and its answer.
///
/// By the time of the answer its slot may belong to another output.
struct OutputPlace: Hashable, Sendable {
    var slot: Int
    var occupant: UInt32
}
