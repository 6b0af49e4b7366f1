internal import ALSASequencer
internal import Arbiter
internal import BeatTime
internal import ClockDispatch
internal import LinkNetwork
internal import Logging

/// Everything the gateway decides, as a value.
///
/// It takes an event and the time, and returns what is to be done. It knows no thread, no clock and no descriptor's
/// contents, so that whole gateways can be tested in virtual time. ``GatewayLoop`` runs it on the gateway thread.
struct GatewayEngine: Sendable {
    /// What the user wants now.
    var configuration: LiveConfiguration
    var arbiter: Arbiter
    var outputs: OutputTable
    var inputs: InputTable
    var controls: ControlTable
    var patchbay = Patchbay()
    /// The newest state of the Link peer.
    var link: LinkState
    /// What the next run is to find.
    var kept: KeptState
    /// What the clock thread is to do; it has been published up to its generation.
    var board: OutputBoard
    /// What the clock thread has said of itself last.
    var account = ClockAccount()
    /// When to play at the latest, if that is to be once everything is ready; nil if it is not, or done.
    var playsOnceReady: HostTime?
    var tapping = TapTempo()
    /// What the next run is to find if this one crashes.
    var started: StartedDevices
    var recovery: Recovery
    var idleness: Idleness
    let startsWithLink: Bool
    /// The numbers of the gateway's clients that there are from the start.
    let clients: Set<Int>

    // What is gathered until no question is open.
    var effects = GatewayEffects()
    var isBoardStale = false
    var isStatusStale = false
    var haveOutputsChanged = false
    /// The outcomes that no effects have carried yet, because there are answers to come.
    private var replies: [(token: ReplyToken, outcome: Result<Void, CommandError>)] = []
    /// The outputs as the log knows them.
    private var loggedOutputs: [Output]

    /// How long to look for a session, and to wait for ports, before playing by itself (`--play`), in microseconds.
    private static let settlingTime: Int64 = 1_500_000
    /// How often to look whether that is over, in microseconds.
    private static let readyCheck: Int64 = 10_000
    /// How often to look whether devices have taken their Stop, in microseconds.
    private static let stopCheck: Int64 = 250_000

    /// What the engine is to know of the machine it runs on.
    struct Surroundings: Sendable {
        /// The Link peer's first state.
        var link: LinkState
        /// The number of the client whose ports carry the clocks; nil where there is no sequencer.
        var outputClient: Int?
        /// The number of the client that watches ports; likewise.
        var controlClient: Int?
        /// What other machines' clocks come in by; nil where nothing can.
        var clockIn: ClockEntrance?
        /// What the last run has left.
        var kept = KeptState()
        /// Decides what the loop guard asks and how marked ticks move; nobody else should be able to guess it.
        var seed: UInt64
    }

    /// Begins, without a port list and with everything still to be connected.
    ///
    /// The ports of ``takePortNames()`` are to be made before the clock thread runs.
    ///
    /// - Parameters:
    ///   - start: what the user wants at the start.
    ///   - surroundings: what there is.
    ///   - now: the present time.
    init(_ start: GatewayConfiguration, in surroundings: Surroundings, at now: HostTime) {
        configuration = start.live
        link = surroundings.link
        kept = surroundings.kept
        outputs = OutputTable(
            configuration.outputs, client: surroundings.outputClient, offsets: kept.offsets, leftPlaying: kept.playing,
            seed: surroundings.seed)
        clients = Set(
            [surroundings.outputClient, surroundings.controlClient, surroundings.clockIn?.port?.client]
                .compactMap(\.self))
        inputs = InputTable(start.follow ?? configuration.follow, clockIn: surroundings.clockIn)
        controls = ControlTable(configuration.controls, hasSequencer: outputs.client != nil)
        arbiter = Arbiter(
            LinkView(link), quantum: start.quantum ?? configuration.quantum,
            following: inputs.sources.leaders(driven: []), seed: surroundings.seed)
        arbiter.stopsWhenLost = configuration.stopsWhenLost
        arbiter.setFence(configuration.fence, at: now)
        board = OutputBoard(map: arbiter.map, transport: arbiter.transport)
        board.take(outputs.all)
        loggedOutputs = outputs.all
        startsWithLink = start.isLinkEnabled
        playsOnceReady = start.playsAtStart ? now.advanced(byMicroseconds: Self.settlingTime) : nil
        started = StartedDevices(kept.playing)
        recovery = Recovery(isNeeded: !kept.playing.isEmpty, at: now)
        idleness = Idleness(at: now)
    }

    /// Takes in what has happened.
    ///
    /// - Parameters:
    ///   - event: what has happened.
    ///   - now: the present time.
    /// - Returns: what is to be done, to the last bit before the next event.
    mutating func take(_ event: GatewayEvent, at now: HostTime) -> GatewayEffects {
        switch event {
        case .started: start(at: now)
        case .link(let state): linkChanged(to: state, at: now)
        case .clocks(let events): heard(events, at: now)
        case .clockDevice(let device):
            inputs.clockIn?.device = device
            hearDevices(at: now)
        case .controls(let arrivals): pressed(arrivals, at: now)
        case .ports(let list):
            patchbay.replace(list)
            portsChanged(at: now)
        case .command(let command, let token):
            do throws(CommandError) {
                try perform(command, token, at: now)
            } catch {
                reply(.failure(error), to: token)
            }
        case .done(let token): reply(.success(()), to: token)
        case .answers(let answers): note(answers, at: now)
        case .turn(let account, let watchedAt): timePassed(account, watchedAt: watchedAt, at: now)
        }
        finish()
        defer { effects = GatewayEffects() }
        return effects
    }

    /// What output ports are to be called that do not exist yet, by their numbers.
    mutating func takePortNames() -> [(port: Int, name: String)] { outputs.takePortNames() }

    /// When ``GatewayEvent/turn(_:watchedAt:)`` has something to do at the latest.
    ///
    /// - Parameter now: the present time.
    /// - Returns: nil while only other events can change anything.
    func nextDeadline(after now: HostTime) -> HostTime? {
        let ready = playsOnceReady.map { min($0, now.advanced(byMicroseconds: Self.readyCheck)) }
        let stop = started.awaitsStop ? now.advanced(byMicroseconds: Self.stopCheck) : nil
        let deadlines = [
            ready, stop, arbiter.nextDeadline, recovery.deadline, idleness.next, outputs.nextDeadline(after: now),
        ]
        return deadlines.compactMap(\.self).min()
    }

    /// Has a command's outcome told with the next status that shows it.
    ///
    /// - Parameters:
    ///   - outcome: what became of it.
    ///   - token: whose; nil for what nobody waits for.
    mutating func reply(_ outcome: Result<Void, CommandError>, to token: ReplyToken?) {
        if let token { replies.append((token, outcome)) }
    }

    private mutating func start(at now: HostTime) {
        if !kept.playing.isEmpty {
            log(
                .notice, "the last run could not stop what it played; that is brought into step now",
                ["outputs": "\(kept.playing.joined(separator: ", "))"])
        }
        if startsWithLink { switchLink(on: true, nil, at: now) }
        if controls.wantsInput { effects.questions.append(.openControls) }
        // With a sequencer the first list of its ports comes next.
        if outputs.client == nil { hearDevices(at: now) }
    }

    /// Does what has become due.
    private mutating func timePassed(_ account: ClockAccount, watchedAt: HostTime, at now: HostTime) {
        self.account = account
        if let deadline = arbiter.nextDeadline, deadline <= now { decide(at: now) { $0.timePassed(to: $1) } }
        if started.awaitsStop { keepStarted() }
        tendOutputs(at: now)
        if recovery.ends(isLinkOn: arbiter.wantsLink, isConnected: arbiter.isConnected, at: now) {
            // It is known now what devices should do that a crashed run has left playing.
            outputs.release()
            outputsChanged()
        }
        playIfReady(at: now)
        tendLink(watchedAt: watchedAt, at: now)
    }

    /// Adds what follows from everything else: the board, and once there are no open questions the status.
    private mutating func finish() {
        effects.portNames = outputs.takePortNames()
        if isBoardStale { publishBoard() }
        guard effects.questions.isEmpty else { return }
        logOutputs()
        if isStatusStale {
            effects.status = StatusPicture(self)
            isStatusStale = false
        }
        effects.replies = replies
        replies = []
    }

    private mutating func publishBoard() {
        outputs.setLeader(arbiter.leader, device: inputs.clockIn?.device?.name)
        board.map = arbiter.map
        board.transport = arbiter.transport
        board.take(outputs.all, probing: arbiter.probing)
        board.generation += 1
        effects.isBoardNew = true
        isBoardStale = false
        keepStarted()
    }

    private mutating func logOutputs() {
        guard haveOutputsChanged else { return }
        haveOutputsChanged = false
        for (slot, output) in outputs.all.enumerated() {
            let old = loggedOutputs.indices.contains(slot) ? loggedOutputs[slot] : nil
            let before = old.flatMap { $0.occupant == output.occupant ? $0 : nil }
            effects.log += output.changes(since: before)
        }
        loggedOutputs = outputs.all
    }

    mutating func log(_ level: Logger.Level, _ text: Logger.Message, _ metadata: Logger.Metadata = [:]) {
        effects.log.append(LogEntry(level, text, metadata))
    }
}
