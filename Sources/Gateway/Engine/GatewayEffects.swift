internal import ALSASequencer
internal import Arbiter
internal import CardOutput

/// What the engine wants done, in the order of the fields.
///
/// The order matters. A port is deleted before its number is another's, and created before a board mentions it. An edit of the session is made before its
/// Link switch. A device that only one program may use is released before it is requested again. The status shows a
/// command's effect before the reply.
struct GatewayEffects: Sendable {
    /// The numbers of output ports to delete.
    var portsToDelete: [Int] = []
    /// Output ports to create.
    var portsToMake: [(port: Int, name: String)] = []
    /// Whether to publish ``GatewayEngine/board``.
    var isBoardNew = false
    /// The sound cards to play on from now on, if they have changed.
    var cards: [SoundCardSetup]?
    /// Requests to the Link peer, in order.
    var link: [LinkRequest] = []
    var unsubscriptions: [SubscriptionGraph.Subscription] = []
    /// Descriptors of unused lines, to be closed.
    var closings: [Int32] = []
    /// Whether to close the port that receives buttons and pedals.
    var closesControls = false
    /// What to try; the results must follow at once as ``GatewayEvent/answers(_:)``.
    var questions: [GatewayQuestion] = []
    /// The state to save for the next run.
    var kept: (state: KeptState, change: WriteSchedule.Change)?
    var log: [LogEntry] = []
    /// The status from now on.
    var status: StatusPicture?
    /// The results of commands.
    var replies: [(token: ReplyToken, outcome: Result<Void, CommandError>)] = []
}

/// A request to the Link peer; with a token, ``GatewayEvent/done(_:)`` follows when it is done.
enum LinkRequest: Sendable {
    case edit(SessionEdit, ReplyToken?)
    case setEnabled(Bool, ReplyToken?)
    case setStartStopSync(Bool, ReplyToken?)
    case setActive(Bool)
}

/// Something to try; the engine decides by the result.
enum GatewayQuestion: Hashable, Sendable {
    case subscribe(SubscriptionGraph.Subscription)
    case openLine(OutputPlace, path: String, bitsPerSecond: Int)
    case readDriver(OutputPlace, PortDescription)
    case openControls
}
