internal import ALSASequencer
internal import Arbiter
internal import BeatTime
internal import CardOutput
internal import ClockDispatch
internal import Glibc
internal import LinkNetwork
internal import Logging
internal import RealTime

/// The gateway thread: waits for events, passes them to the engine, and carries out the effects.
///
/// It decides nothing, lives on that thread alone, and shares nothing but the ``GatewayExchange``.
final class GatewayLoop: EffectPerformer {
    var engine: GatewayEngine
    private let exchange: GatewayExchange
    private let parts: Parts
    private let log: Logger
    /// Watches ports and makes subscriptions; nil without a sequencer.
    private let control: SequencerControl?
    /// Receives buttons and pedals, while any are configured.
    private var controls: ControlInput?
    /// The open lines of outputs, by their descriptors.
    private var lines = OpenLines()
    /// Callers waiting for results of commands.
    private var waiting: [ReplyToken: GatewayExchange.Reply] = [:]
    private var tokens: UInt64 = 0
    /// The last known states of the sound cards.
    private var cardStates: [String: OutputCard.State] = [:]

    /// The other threads that the loop talks to; all are safe to use from any thread.
    struct Parts: Sendable {
        let peer: LinkPeer
        let keeper: StateKeeper?
        let board: TripleBuffer<OutputBoard>
        let output: OutputThread
        let outputThread: RealTimeThread
        let sequencer: SequencerOutput?
        let input: ClockInput?
        let cards: OutputCards
    }

    init(
        _ engine: GatewayEngine, _ exchange: GatewayExchange, control: SequencerControl?, _ parts: Parts, log: Logger
    ) {
        self.engine = engine
        self.exchange = exchange
        self.control = control
        self.parts = parts
        self.log = log
    }

    /// Runs until it is told to stop.
    func run() {
        take(.started)
        listPorts()
        while !exchange.isStopping {
            takeTurn()
            wait()
            // A command must know what the output thread does now.
            takeTurn()
            if control?.takeAnnouncements() == true { listPorts() }
            if let arrivals = controls?.take(), !arrivals.isEmpty { take(.controls(arrivals)) }
            takeMail()
        }
        end()
    }

    private func takeTurn() {
        let states = parts.cards.tend(engine.board)
        if states != cardStates {
            cardStates = states
            take(.cards(states))
        }
        take(.turn(parts.output.report(slots: engine.board.count), watchedAt: exchange.watchedAt))
    }

    /// Waits for the first event or deadline.
    private func wait() {
        var descriptors = [exchange.mailbox.descriptor, control?.descriptor, controls?.descriptor].compactMap(\.self)
            .map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
        let clocks = ClockReading.take()
        poll(&descriptors, until: engine.nextDeadline(after: clocks.hostTime).map(clocks.monotonicTime))
    }

    private func listPorts() {
        if let control {
            take(.ports(PortList(control, inputs: [parts.input?.entrance.port, controls?.address].compactMap(\.self))))
        }
    }

    private func takeMail() {
        let (messages, isMissingSome) = exchange.mailbox.takeAll()
        let events = messages.map { message -> GatewayEvent in
            switch message {
            case .link(let state): return .link(state)
            case .clockDevice(let device): return .clockDevice(device)
            case .clocks(let events): return .clocks(events)
            case .done(let token): return .done(token)
            case .refused(let refusal, let token): return .refused(refusal, token)
            case .command(let command, let reply):
                tokens += 1
                waiting[ReplyToken(number: tokens)] = reply
                return .command(command, ReplyToken(number: tokens))
            }
        }
        take(events, lost: isMissingSome ? .init(link: parts.peer.state, clockDevice: parts.input?.device) : nil)
    }

    func ask(_ request: LinkRequest) {
        switch request {
        case .edit(let edit, let token):
            parts.peer.edit(
                { edit.apply(to: &$0, at: $1) },
                whenRefused: { [mailbox = exchange.mailbox] in mailbox.postAnswer(.refused($0, token)) },
                whenDone: whenDone(token))
        case .setEnabled(let isOn, let token): parts.peer.setEnabled(isOn, whenDone: whenDone(token))
        case .setStartStopSync(let isOn, let token): parts.peer.setStartStopSync(isOn, whenDone: whenDone(token))
        case .setActive(let isActive): parts.peer.setActive(isActive)
        }
    }

    /// The change is in the mailbox before this, so the reply comes after it.
    private func whenDone(_ token: ReplyToken?) -> (@Sendable () -> Void)? {
        guard let token else { return nil }
        return { [mailbox = exchange.mailbox] in mailbox.postAnswer(.done(token)) }
    }

    func answer(_ question: GatewayQuestion) -> GatewayAnswer {
        switch question {
        case .subscribe(let subscription):
            do throws(ALSAError) {
                // Without a sequencer no port is listed, so this is never asked.
                let isNew = try control?.subscribe(subscription.receiver, to: subscription.sender)
                return .subscribed(subscription, isNew: isNew == true)
            } catch {
                return .notSubscribed(subscription, error)
            }
        case .openLine(let place, let path, let speed):
            do throws(RawLine.OpenError) {
                return .opened(place, try lines.open(path: path, bitsPerSecond: speed))
            } catch {
                return .notOpened(place, error)
            }
        case .readDriver(let place, let port): return .driver(place, DriverBuffer.behind(port))
        case .openControls:
            do throws(ALSAError) {
                let input = try ControlInput(name: "Tactus Controls")
                controls = input
                return .controlsOpened(input.address)
            } catch {
                return .controlsNotOpened(error)
            }
        }
    }

    func hostTime() -> HostTime { .now() }
    func deletePort(_ port: Int) { parts.sequencer?.deletePort(port) }
    func makePort(_ port: Int, named name: String) { parts.sequencer?.makePort(port, named: name) }
    func publish(_ board: OutputBoard) {
        parts.board.publish(board)
        parts.cards.publish(board)
    }

    func play(on cards: [SoundCardSetup]) { parts.cards.play(cards) }
    func close(_ descriptor: Int32) { lines.close(descriptor) }
    func closeControls() { controls = nil }
    func keep(_ state: KeptState, _ change: WriteSchedule.Change) { parts.keeper?.keep(state, change) }
    func write(_ entry: LogEntry) { log.write(entry) }
    func publish(_ status: StatusPicture) { exchange.publish(status) }
    func reply(_ outcome: Result<Void, CommandError>, to token: ReplyToken) {
        waiting.removeValue(forKey: token)?(outcome)
    }

    func unsubscribe(_ subscription: SubscriptionGraph.Subscription) {
        control?.unsubscribe(subscription.receiver, from: subscription.sender)
    }

    func endClock() -> OutputReport {
        parts.output.stop()
        parts.cards.requestStop()
        parts.outputThread.join()
        return parts.output.report(slots: engine.board.count)
    }

    func endInput() { parts.input?.stop() }
    func endLink() { parts.peer.close() }

    func endCards() { parts.cards.stop() }

    func endReplies() {
        exchange.mailbox.close()
        for case .command(_, let reply) in exchange.mailbox.takeAll().events { reply(.failure(.busy)) }
        for reply in waiting.values { reply(.success(())) }
    }
}
