internal import ALSASequencer
internal import BeatTime
package import CardOutput
internal import ClockDispatch
package import ConfigurationFiles
internal import Essentials
package import GatewayStatus
internal import LinkNetwork
internal import LinkSession
package import Logging
package import RealTime
internal import Synchronization

/// The running gateway: its threads, its sequencer clients, its Link peer.
///
/// Any thread may call it.
package final class Gateway: Sendable {
    private let exchange: GatewayExchange
    private let peer: LinkPeer
    private let output: OutputThread
    private let thread: RealTimeThread
    private let cards: OutputCards
    private let keeper: StateKeeper?
    private let others: @Sendable () -> [Notice]
    private let outputThread: RealTimeThread
    private let priorityWanted: Int
    private let request: Mutex<RealTimeRight.Request>
    private let isProcessLocked: Bool
    private let sequencerTrouble: ALSAError?
    private let reloading: Reloading

    /// Starts the gateway.
    ///
    /// A missing sequencer, a refused real-time priority or an absent output is no error. It shows in the status, with
    /// its fix.
    ///
    /// - Parameters:
    ///   - configuration: what the user wants.
    ///   - keeper: saves what the user sets, and returns what was saved; nil saves nothing.
    ///   - log: receives events, as constant texts with metadata.
    ///   - requester: asks others for the output thread's real-time scheduling if the kernel refuses it; nil asks nobody.
    ///   - others: gives the notices of those around it, for the status; any thread.
    ///   - reading: reads the configuration again, for ``reload()``.
    /// - Throws: if a thread or a descriptor cannot be created.
    package init(
        _ configuration: GatewayConfiguration, keeper: StateKeeper? = nil, log: Logger,
        requester: RealTimeRequester? = nil, others: @escaping @Sendable () -> [Notice] = { [] },
        reading: (@Sendable () throws(Mistakes) -> LiveConfiguration)? = nil
    ) throws(SystemCallError) {
        self.keeper = keeper
        self.others = others
        let mailbox = try Mailbox<GatewayExchange.Message>(capacity: 1024)
        var clients = SequencerClients(configuration)
        // Receiving a Start promptly matters as much as answering a ping, but the output thread comes first: where it
        // has no priority by limits, no other thread of the gateway may have one.
        let wanted = Int32(clamping: configuration.realtimePriority)
        let priority = wanted > 0 && RealTimeThread.isGranted(priority: wanted) ? wanted / 2 : 0
        let input = try clients.input(configuration, priority: priority, into: mailbox)
        var kept = keeper?.found ?? KeptState()
        kept.written = configuration.written
        let link = Engine(configuration, kept: kept, seed: .random(in: 0 ... .max), at: .now())
        let peer = try LinkPeer(link, interfaces: configuration.interfaces, priority: priority) { state in
            // If the mailbox is full, the gateway thread notices and reads the present state instead.
            _ = mailbox.post(.link(state))
        }
        var engine = GatewayEngine(
            configuration,
            in: .init(
                link: peer.state, outputClient: clients.output?.client, controlClient: clients.control?.client,
                clockIn: input?.entrance, startedAt: hourAndMinute(millisecondsSince1970()), kept: kept,
                seed: .random(in: 0 ... .max)),
            at: .now())
        // The gateway thread creates later ports.
        for (port, name) in engine.takePortsToMake() { clients.output?.makePort(port, named: name) }
        let board = TripleBuffer(engine.board)
        let output = OutputThread(sequencer: clients.output, board: board, dispatch: configuration.dispatch)
        let outputThread = try RealTimeThread(
            name: "tactus-output", priority: wanted, stackSize: 256 * 1024
        ) { output.run() }
        self.outputThread = outputThread
        priorityWanted = configuration.realtimePriority
        isProcessLocked = LockedMemory.lockProcess()
        sequencerTrouble = clients.trouble
        let asks = requester != nil && wanted > 0 && !outputThread.scheduling.isRealTime
        request = Mutex(asks ? .waiting : .none)
        self.output = output
        self.peer = peer
        let picture = StatusPicture(engine, at: .now())
        let exchange = GatewayExchange(picture, mailbox: mailbox)
        self.exchange = exchange
        reloading = Reloading(exchange, read: reading ?? { configuration.live })
        let cards = OutputCards(counting: output, priority: priority) { log.write(LogEntry($0)) }
        self.cards = cards
        let parts = GatewayLoop.Parts(
            peer: peer, keeper: keeper, board: board, output: output, outputThread: outputThread,
            sequencer: clients.output, input: input, cards: cards)
        let control = Handover(clients.control)
        thread = try RealTimeThread(name: "tactus-gateway", priority: priority, stackSize: 1 << 20) { [engine] in
            GatewayLoop(engine, exchange, control: control.take(), parts, log: log).run()
        }
        for notice in picture.notices(counters: output, on: machine) { log.write(LogEntry(notice)) }
        if asks { requester?(outputThread.id, wanted) { [weak self] in self?.take($0, log) } }
    }

    /// What the machine allows now.
    private var machine: StatusPicture.Machine {
        let scheduling = outputThread.scheduling
        var request = request.withLock { $0 }
        // The thread loses its scheduling before the report of that arrives.
        if request == .answered(.granted), RealTimeLimit.wasExceeded { request = .answered(.overrun) }
        return .init(
            realTime: .init(priorityWanted: priorityWanted, scheduling: scheduling, request: request),
            isProcessLocked: isProcessLocked, sequencerTrouble: sequencerTrouble)
    }

    /// Takes what became of the request for real-time scheduling; any thread.
    private func take(_ report: RealTimeReport, _ log: Logger) {
        request.withLock { $0 = .answered(report) }
        let right = machine.realTime
        if report == .granted {
            log.notice("real-time priority by rtkit", metadata: ["priority": "\(right.scheduling.priority)"])
        } else if let notice = right.notice {
            log.write(LogEntry(notice))
        }
    }

    /// Most descriptors that a gateway opens, with the present addresses.
    package static func descriptorsNeeded(_ live: LiveConfiguration, interfaces: [String]) -> Int {
        let lines = live.outputs.requests.count { $0.destination.isRaw }
        let cardCount = live.outputs.requests.count { $0.destination.isCard }
        let cards = cardCount == 0 ? 0 : cardCount * 12 + CardReserver.descriptorsNeeded
        return ownDescriptors + lines + cards + LocalAddress.descriptorsNeeded(onlyNamed: interfaces)
    }

    /// Wake-ups, sequencer clients, the state file and its lock, and files read for the status.
    private static let ownDescriptors = 22

    /// The present status.
    package func status() -> Status {
        var status = exchange.picture.status(
            at: .now(), counters: output, cards: cards.figures, on: machine)
        status.warnings += ((keeper?.notices ?? []) + others()).map(Status.Warning.init)
        return status
    }

    /// What an output on a sound card does now, by its ID; nil if no card plays it.
    package func plan(ofCardOutput output: String) -> PlayedPlan? { cards.plan(of: output) }

    /// Whether an output is on a sound card, by its ID.
    package func isCardOutput(_ output: String) -> Bool { cards.isWanted(output) }

    /// The present status, for a caller who keeps watching.
    ///
    /// Link does not leave the network for lack of use while this is called at least once a second.
    package func watchedStatus() -> Status {
        exchange.noteWatcher()
        return status()
    }

    /// The last changes of the session and who made them, oldest first.
    package var changes: [Status.Change] { exchange.picture.link.changes.map(Status.Change.init) }

    /// The Link peers heard now, those of our session first; at most 128.
    package func peers() async -> [SessionPeer] {
        await peer.peers().map { SessionPeer($0, at: .now()) }.namingPrograms()
    }

    /// The profiles in force.
    package var profiles: [Profile] { exchange.picture.configuration.outputs.library.profiles }

    /// The sequencer's ports that can send or receive.
    package var ports: [Port] { Port.all(exchange.picture.list.ports) }

    /// When the output thread is due to run next; nil until it runs.
    ///
    /// No lock, no allocation: whoever watches the clock must not wait for anybody.
    package var clockWakesAt: MonotonicTime? { output.hasStarted ? output.wakesAt : nil }

    /// Why the output thread misses its deadlines; nil if it does not.
    package func clockTrouble() -> String? { exchange.picture.clockTrouble(at: .take(), counters: output) }

    /// Carries out a command; returns once ``status()`` shows its effect.
    package func perform(_ command: Command) async throws(CommandError) {
        try await outcome { reply in exchange.post(command, reply: reply) }.get()
    }

    /// Carries out a command without waiting; in a flood some commands are dropped.
    ///
    /// - Parameters:
    ///   - command: from a sender that expects no answer.
    ///   - whenRefused: called on any thread if the command is refused.
    package func submit(_ command: Command, whenRefused: @escaping @Sendable (CommandError) -> Void) {
        exchange.post(command, leaving: 512) { result in
            if case .failure(let refusal) = result { whenRefused(refusal) }
        }
    }

    private func outcome(_ post: (@escaping GatewayExchange.Reply) -> Void) async -> Result<Void, CommandError> {
        await withCheckedContinuation { continuation in post { continuation.resume(returning: $0) } }
    }

    /// Reads configuration and profiles again, and applies all changes or none.
    package func reload() async throws(CommandError) {
        // Of two concurrent reloads, the one that reads later is applied later.
        try await outcome(reloading.add).get()
    }

    /// Stops the gateway; returns when all its threads have ended.
    ///
    /// Playing machines get a Stop, Tactus leaves the session cleanly, and the state is saved.
    package func stop() async {
        exchange.stop()
        thread.join()
        keeper?.close()
    }
}
