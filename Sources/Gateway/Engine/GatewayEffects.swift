internal import ALSASequencer
internal import Arbiter

/// What the engine wants done, in the order of the fields.
///
/// The order matters. A port's name is in place before a board wants the port. An edit of the session is made before
/// the Link switch it belongs to. A device that only one may use is let go before it is asked for again. The status
/// shows what a reply promises.
struct GatewayEffects: Sendable {
    /// What output ports that do not exist yet are to be called, by their numbers.
    var portNames: [(port: Int, name: String)] = []
    /// Whether ``GatewayEngine/board`` is to be published.
    var isBoardNew = false
    /// What the Link peer is asked for, in order.
    var link: [LinkRequest] = []
    var unsubscriptions: [SubscriptionGraph.Subscription] = []
    /// Descriptors of lines that nobody uses any more.
    var closings: [Int32] = []
    /// Whether the port that hears buttons and pedals is to be closed.
    var closesControls = false
    /// What is to be tried; ``GatewayEvent/answers(_:)`` brings what became of it, and is due at once.
    var questions: [GatewayQuestion] = []
    /// What the next run is to find.
    var kept: (state: KeptState, change: WriteSchedule.Change)?
    var log: [LogEntry] = []
    /// What the status shows from now on.
    var status: StatusPicture?
    /// The outcomes of commands.
    var replies: [(token: ReplyToken, outcome: Result<Void, CommandError>)] = []
}

/// What the Link peer is asked for; with a token ``GatewayEvent/done(_:)`` tells when it is done.
enum LinkRequest: Sendable {
    case edit(SessionEdit, ReplyToken?)
    case setEnabled(Bool, ReplyToken?)
    case setStartStopSync(Bool, ReplyToken?)
    case setActive(Bool)
}

/// Something to try whose outcome decides what follows.
enum GatewayQuestion: Hashable, Sendable {
    case subscribe(SubscriptionGraph.Subscription)
    case openLine(OutputPlace, path: String, bitsPerSecond: Int)
    case lookAtDriver(OutputPlace, PortDescription)
    case openControls
}
