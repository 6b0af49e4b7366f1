internal import ALSASequencer
internal import BeatTime
internal import ClockDispatch
package import ConfigurationFiles
package import GatewayStatus
internal import LinkNetwork
package import Logging
package import RealTime
internal import Synchronization

/// The running gateway: its threads, its sequencer clients, its Link peer.
///
/// Any thread may call it.
package final class Gateway: Sendable {
    private let exchange: GatewayExchange
    private let output: OutputThread
    private let thread: RealTimeThread
    private let keeper: StateKeeper?
    private let machine: StatusPicture.Machine
    private let reading: Mutex<@Sendable () throws(Mistakes) -> LiveConfiguration>

    /// Starts the gateway.
    ///
    /// A missing sequencer, a refused real-time priority or an output that is not there yet are no errors: they show
    /// in the status, with their fix.
    ///
    /// - Parameters:
    ///   - configuration: what the user wants.
    ///   - keeper: keeps what the user sets, and gives back what was kept; nil forgets it.
    ///   - log: takes what happens, in constant texts with metadata.
    ///   - reading: reads again what the user wants, for ``reload()``.
    /// - Throws: when the system gives no thread or no descriptor.
    package init(
        _ configuration: GatewayConfiguration, keeper: StateKeeper? = nil, log: Logger,
        reading: (@Sendable () throws(Mistakes) -> LiveConfiguration)? = nil
    ) throws(SystemCallError) {
        self.reading = Mutex(reading ?? { configuration.live })
        self.keeper = keeper
        let mailbox = try Mailbox<GatewayExchange.Message>(capacity: 1024)
        var clients = SequencerClients(configuration)
        // How soon a Start is heard matters as much as how soon a ping is; the clock thread comes first.
        let priority = Int32(clamping: configuration.realtimePriority / 2)
        let input = try clients.input(configuration, priority: priority, into: mailbox)
        let kept = keeper?.found ?? KeptState()
        let peer = try LinkPeer(
            tempo: configuration.tempo, isStartStopSyncEnabled: configuration.isStartStopSyncEnabled,
            interfaces: configuration.interfaces, priority: priority,
            resumptionTime: kept.playing.isEmpty ? 0 : Recovery.longest
        ) { state in
            // News that find no room are made up for when the gateway thread sees the overflow.
            _ = mailbox.post(.link(state))
        }
        var engine = GatewayEngine(
            configuration,
            in: .init(
                link: peer.state, outputClient: clients.output?.client, controlClient: clients.control?.client,
                clockIn: input?.entrance, kept: kept, seed: .random(in: 0 ... .max)),
            at: .now())
        // Later ports are made by the clock thread.
        for (port, name) in engine.takePortNames() {
            clients.output?.name(port: port, name)
            try? clients.output?.makePort(port)
        }
        let board = TripleBuffer(engine.board)
        let output = OutputThread(sequencer: clients.output, board: board, dispatch: configuration.dispatch)
        let outputThread = try RealTimeThread(
            name: "tactus-output", priority: Int32(clamping: configuration.realtimePriority), stackSize: 256 * 1024
        ) { output.run() }
        machine = StatusPicture.Machine(
            priorityWanted: configuration.realtimePriority, scheduling: outputThread.scheduling,
            isProcessLocked: LockedMemory.lockProcess(), sequencerTrouble: clients.trouble?.description)
        self.output = output
        let exchange = GatewayExchange(StatusPicture(engine), mailbox: mailbox)
        self.exchange = exchange
        let parts = GatewayLoop.Parts(
            peer: peer, keeper: keeper, board: board, output: output, outputThread: outputThread,
            sequencer: clients.output, input: input)
        for warning in exchange.picture.status(at: .now(), counters: output, on: machine).warnings {
            log.write(LogEntry(warning))
        }
        let control = Handover(clients.control)
        thread = try RealTimeThread(name: "tactus-gateway", priority: priority) { [engine] in
            GatewayLoop(engine, exchange, control: control.take(), parts, log: log).run()
        }
    }

    /// How many descriptors a gateway opens at most, with the addresses there are now.
    package static func descriptorsNeeded(_ live: LiveConfiguration, interfaces: [String]) -> Int {
        let lines = live.outputs.requests.count { if case .raw = $0.address { true } else { false } }
        return ownDescriptors + lines + LocalAddress.descriptorsNeeded(onlyNamed: interfaces)
    }

    /// Wake-ups, sequencer clients, the state's file, and what is looked up for the status.
    private static let ownDescriptors = 20

    /// The present state of everything.
    package func status() -> Status {
        var status = exchange.picture.status(at: .now(), counters: output, on: machine)
        status.warnings += keeper?.warnings ?? []
        return status
    }

    /// The present state of everything, for somebody who keeps watching: as long as it is asked for every second, Link
    /// does not leave the network for want of use.
    package func watchedStatus() -> Status {
        exchange.noteWatcher()
        return status()
    }

    /// The profiles in force.
    package var profiles: [Profile] { exchange.picture.configuration.outputs.library.profiles }

    /// The sequencer's ports that send or take something.
    package var ports: [Port] { Port.all(exchange.picture.list.ports) }

    /// Why the output thread does not meet its deadlines; nil while it does.
    package func clockTrouble() -> String? { exchange.picture.clockTrouble(at: .take(), counters: output) }

    /// Carries out a command; returns once ``status()`` shows it.
    package func perform(_ command: Command) async throws(CommandError) {
        try await outcome { exchange, reply in exchange.post(command, reply: reply) }.get()
    }

    /// Has a command carried out and waits for nothing; in a flood of them some are passed over.
    ///
    /// - Parameters:
    ///   - command: from someone who expects no answer.
    ///   - whenRefused: is called, on any thread, if it is not carried out.
    package func submit(_ command: Command, whenRefused: @escaping @Sendable (CommandError) -> Void) {
        exchange.post(command, leaving: 512) { result in
            if case .failure(let refusal) = result { whenRefused(refusal) }
        }
    }

    private func outcome(
        _ post: (GatewayExchange, @escaping GatewayExchange.Reply) -> Void
    ) async -> Result<Void, CommandError> {
        await withCheckedContinuation { continuation in post(exchange) { continuation.resume(returning: $0) } }
    }

    /// Reads configuration and profiles again, and applies what has changed, all of it or nothing.
    package func reload() async throws(CommandError) {
        let outcome = await outcome { exchange, reply in
            // Of two at once the one that reads later is also carried out later.
            reading.withLock { reading in
                do throws(Mistakes) {
                    exchange.post(.configure(try reading()), reply: reply)
                } catch {
                    reply(.failure(.badConfiguration(error.all.map(\.description))))
                }
            }
        }
        try outcome.get()
    }

    /// Stops the devices that play, says bye-bye to the peers, keeps the state and ends all threads; returns when that
    /// has happened.
    package func stop() async {
        exchange.stop()
        thread.join()
        keeper?.close()
    }
}
