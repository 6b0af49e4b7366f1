internal import ALSASequencer
internal import Arbiter
internal import BeatTime
internal import CardOutput
internal import ClockDispatch
internal import LinkNetwork
internal import Logging

/// Everything the gateway decides, as a value.
///
/// It takes an event and the time, and returns what to do. It uses no thread, no clock and no descriptor's contents, so
/// whole gateways can be tested in virtual time. ``GatewayLoop`` runs it on the gateway thread.
struct GatewayEngine: Sendable {
    /// What the user wants now.
    var configuration: LiveConfiguration
    var arbiter: Arbiter
    var outputs: OutputTable
    var inputs: SourceTable
    var controls: ControlTable
    var patchbay = Patchbay()
    /// The newest state of the Link peer.
    var link: LinkState
    /// Whether the user wants start/stop sync; the Link peer applies it after the command.
    var wantsStartStopSync: Bool
    /// The state to save for the next run.
    var kept: KeptState
    /// The orders for the output thread, as last published.
    var board: OutputBoard
    /// When the playing song began, for outputs of time code.
    private var songBegin = SongBegin()
    /// The output thread's last report.
    var report = OutputReport()
    /// When to start playing at the latest, if asked to play once ready; else nil.
    var playsOnceReady: HostTime?
    var tapping = TapTempo()
    /// What the last tap said, and when.
    var tapped: (reading: TapTempo.Reading, at: HostTime)?
    var undoing = Undoing()
    /// The devices that the next run must stop if this one crashes.
    var started: StartedDevices
    var recovery: Recovery
    /// When this run began, such as `21:04`, until play or stop, if the last one ended abruptly while machines played.
    var restartedAt: String?
    /// Whether Link had a network since it was switched on, and has none now.
    var hasLostNetwork = false
    var idleness: Idleness
    let startsWithLink: Bool
    /// Numbers of the gateway's clients that exist from the start.
    let clients: Set<Int>

    // Collected until all questions are answered.
    var effects = GatewayEffects()
    var isBoardStale = false
    var isStatusStale = false
    var haveOutputsChanged = false
    /// Results of commands that wait for the answers to questions.
    private var replies: [(token: ReplyToken, outcome: Result<Void, CommandError>)] = []
    /// The outputs as last logged.
    private var loggedOutputs: [Output]
    /// The clock to follow that was last logged as absent; nil once it is back.
    private var absentClock: FollowChoice?
    /// The sound cards that were asked for last.
    private var cardsPlayedOn: [SoundCardSetup] = []
    private var networkLog = LogAllowance()
    var sessionLog: SessionLog

    /// Longest wait for a session and for ports before `--play` starts, in microseconds.
    private static let settlingTime: Int64 = 1_500_000
    /// How often to check whether that wait is over, in microseconds.
    private static let readyCheck: Int64 = 10_000
    /// How often to check whether devices have accepted their Stop, in microseconds.
    private static let stopCheck: Int64 = 250_000

    /// What the engine must know of the machine it runs on.
    struct Surroundings: Sendable {
        /// The Link peer's first state.
        var link: LinkState
        /// Number of the client whose ports carry the clocks; nil without a sequencer.
        var outputClient: Int?
        /// Number of the client that watches ports; nil without a sequencer.
        var controlClient: Int?
        /// How other machines' clocks are received; nil if they cannot be.
        var clockIn: ClockEntrance?
        /// The time of day, such as `21:04`.
        var startedAt = "00:00"
        /// What the last run saved.
        var kept = KeptState()
        /// Seed for the loop guard's probes and for marked ticks; others should not be able to guess it.
        var seed: UInt64
    }

    /// Begins without a port list, and with everything still to be connected.
    ///
    /// The ports of ``takePortsToMake()`` must be created before the output thread runs.
    ///
    /// - Parameters:
    ///   - start: what the user wants at the start.
    ///   - surroundings: the machine it runs on.
    ///   - now: the present time.
    init(_ start: GatewayConfiguration, in surroundings: Surroundings, at now: HostTime) {
        configuration = start.live
        link = surroundings.link
        wantsStartStopSync = link.isStartStopSyncEnabled
        sessionLog = SessionLog(after: surroundings.link)
        kept = surroundings.kept
        outputs = OutputTable(
            configuration.outputs, client: surroundings.outputClient, kept: kept.outputs, leftPlaying: kept.playing,
            seed: surroundings.seed)
        clients = Set(
            [surroundings.outputClient, surroundings.controlClient, surroundings.clockIn?.port?.client]
                .compactMap(\.self))
        inputs = SourceTable(start.follow ?? configuration.follow, clockIn: surroundings.clockIn)
        controls = ControlTable(configuration.controls, hasSequencer: outputs.client != nil)
        arbiter = Arbiter(
            LinkView(link), quantum: start.quantum ?? configuration.quantum,
            following: inputs.sources.leaders(driven: []), seed: surroundings.seed)
        arbiter.stopsWhenLost = configuration.stopsWhenLost
        arbiter.setFence(configuration.fence, at: now)
        board = OutputBoard(map: arbiter.map, transport: arbiter.transport)
        board.take(outputs.all, folding: arbiter.folding)
        loggedOutputs = outputs.all
        startsWithLink = start.isLinkEnabled
        let hasEndedInSong = kept.isInSong && !kept.playing.isEmpty
        let isPlaying = start.playsAtStart || start.resumes && hasEndedInSong
        playsOnceReady = isPlaying ? now.advanced(byMicroseconds: Self.settlingTime) : nil
        started = StartedDevices(kept.playing)
        recovery = Recovery(isNeeded: !kept.playing.isEmpty, at: now)
        restartedAt = hasEndedInSong ? surroundings.startedAt : nil
        idleness = Idleness(at: now)
    }

    /// Processes an event.
    ///
    /// - Parameters:
    ///   - event: what has happened.
    ///   - now: the present time.
    /// - Returns: what must be done, all of it before the next event.
    mutating func take(_ event: GatewayEvent, at now: HostTime) -> GatewayEffects {
        switch event {
        case .started: start(at: now)
        case .link(let state): linkChanged(to: state, at: now)
        case .lost(let present):
            linkChanged(to: present.link, at: now)
            if let device = present.clockDevice { clockDeviceChanged(to: device, at: now) }
        case .clocks(let events): heard(events, at: now)
        case .clockDevice(let device): clockDeviceChanged(to: device, at: now)
        case .cards(let states): if outputs.cardsChanged(states) { outputsChanged() }
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
        case .refused(let refusal, let token):
            logFromNetwork(LogEntry(.warning, "the session cannot be changed", ["reason": "\(refusal)"]), at: now)
            reply(.failure(.refusedEdit(refusal)), to: token)
        case .answers(let answers): note(answers, at: now)
        case .turn(let report, let watchedAt): timePassed(report, watchedAt: watchedAt, at: now)
        }
        finish(at: now)
        defer { effects = GatewayEffects() }
        return effects
    }

    /// Names for output ports that do not exist yet, by port number; each is returned once.
    mutating func takePortsToMake() -> [(port: Int, name: String)] { outputs.takePortsToMake() }

    /// When ``GatewayEvent/turn(_:watchedAt:)`` is due at the latest.
    ///
    /// - Parameter now: the present time.
    /// - Returns: nil while only other events can change anything.
    func nextDeadline(after now: HostTime) -> HostTime? {
        let ready = playsOnceReady.map { min($0, now.advanced(byMicroseconds: Self.readyCheck)) }
        let stop = started.awaitsStop ? now.advanced(byMicroseconds: Self.stopCheck) : nil
        let deadlines = [
            ready, stop, arbiter.nextDeadline, recovery.deadline, idleness.next, outputs.nextDeadline(after: now),
            networkLog.deadline, sessionLog.deadline,
        ]
        return deadlines.compactMap(\.self).min()
    }

    /// Returns a command's result with the next status that shows it.
    ///
    /// - Parameters:
    ///   - outcome: the result.
    ///   - token: of the command; nil if nobody waits for it.
    mutating func reply(_ outcome: Result<Void, CommandError>, to token: ReplyToken?) {
        if let token { replies.append((token, outcome)) }
    }

    private mutating func start(at now: HostTime) {
        if !kept.playing.isEmpty {
            log(
                .notice, "the last run ended without stopping its devices; they are realigned now",
                ["outputs": "\(kept.playing.joined(separator: ", "))"])
        }
        if startsWithLink { switchLink(on: true, nil, at: now) }
        chooseCards()
        if controls.wantsInput { effects.questions.append(.openControls) }
        // With a sequencer its first port list follows.
        if outputs.client == nil { hearDevices(at: now) }
    }

    /// Does what is due.
    private mutating func timePassed(_ report: OutputReport, watchedAt: HostTime, at now: HostTime) {
        self.report = report
        if let deadline = arbiter.nextDeadline, deadline <= now { decide(at: now) { $0.timePassed(to: $1) } }
        if started.awaitsStop { keepStarted() }
        tendOutputs(at: now)
        if recovery.endIfOver(isLinkOn: arbiter.wantsLink, isConnected: arbiter.isConnected, at: now) {
            // The state of the session is now known, so devices that a crashed run left playing can be told what to do.
            outputs.release()
            outputsChanged()
        }
        playIfReady(at: now)
        tendLink(watchedAt: watchedAt, at: now)
        if let entry = sessionLog.takeRested(at: now) { logFromNetwork(entry, at: now) }
        logLeftOut(at: now)
    }

    /// Adds the board if it changed, and the status once all questions are answered.
    private mutating func finish(at now: HostTime) {
        effects.portsToMake = outputs.takePortsToMake()
        if isBoardStale { publishBoard(at: now) }
        guard effects.questions.isEmpty else { return }
        logOutputs()
        logChosenClock(at: now)
        if isStatusStale {
            effects.status = StatusPicture(self, at: now)
            isStatusStale = false
        }
        effects.replies = replies
        replies = []
    }

    private mutating func publishBoard(at now: HostTime) {
        outputs.setLeader(arbiter.leader, device: inputs.clockIn?.device?.name)
        board.map = arbiter.map
        board.transport = arbiter.transport
        songBegin.follow(arbiter.transport, relocations: arbiter.relocations, on: arbiter.map, at: now)
        board.songBegin = songBegin.time
        board.take(outputs.all, folding: arbiter.folding, probing: arbiter.probing)
        board.generation += 1
        effects.isBoardNew = true
        chooseCards()
        isBoardStale = false
        keepStarted()
    }

    /// Asks for the sound cards that outputs play on.
    private mutating func chooseCards() {
        let cards = outputs.cards
        if cards != cardsPlayedOn { (cardsPlayedOn, effects.cards) = (cards, cards) }
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

    /// Logs once that the clock to follow is absent, and once that it is back.
    private mutating func logChosenClock(at now: HostTime) {
        let absent = inputs.sources.isAway ? inputs.sources.choice : nil
        guard absent != absentClock, inputs.clockIn?.device?.isUntried != true else { return }
        absentClock = absent
        if let absence = inputs.absence {
            logFromNetwork(LogEntry(absence), at: now)
        } else if inputs.sources.chosen != nil {
            logFromNetwork(LogEntry(.notice, "the clock to follow is there"), at: now)
        }
    }

    mutating func log(_ level: Logger.Level, _ text: Logger.Message, _ metadata: Logger.Metadata = [:]) {
        effects.log.append(LogEntry(level, text, metadata))
    }

    /// Logs what anybody can cause who is on the network or gives commands without end, at a limited rate.
    mutating func logFromNetwork(_ entry: LogEntry, at now: HostTime) {
        logLeftOut(at: now)
        if networkLog.takes(at: now) { effects.log.append(entry) }
    }

    /// Logs how many such lines were left out, and how things are now.
    private mutating func logLeftOut(at now: HostTime) {
        guard let count = networkLog.takeLeftOut(at: now) else { return }
        log(
            .notice, "too much happened in the session to log all of it",
            ["lines left out": "\(count)", "peers now": "\(link.peerCount)"])
    }
}
