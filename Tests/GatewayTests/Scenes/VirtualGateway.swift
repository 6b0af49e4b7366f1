import ALSASequencer
import BeatTime
import CardOutput
import ConfigurationFiles
import GatewayStatus
import Glibc
import LinkNetwork
import LinkSession
import MIDIClock
import RealTime
import Simulation
import TimeCode

@testable import Arbiter
@testable import ClockDispatch
@testable import Gateway

/// A whole gateway in virtual time: the real engines and dispatcher, with simulated devices.
///
/// The sequencer, the lines and the machines are simulated; ``GatewayWorld`` runs the threads. After each event, the
/// gateway checks its promises, the rules that must always hold, and adds those that do not to ``broken``.
final class VirtualGateway: EffectPerformer {
    var engine: GatewayEngine
    /// The Link peer's engine, which the world runs.
    var link: Engine
    var sequencer = VirtualSequencer()
    let outputThread: VirtualOutputThread
    let clock: NodeClock
    var random: SeededGenerator
    private(set) var status: StatusPicture
    private(set) var log: [LogEntry] = []
    private(set) var kept: KeptState
    private(set) var replies: [ReplyToken: Result<Void, CommandError>] = [:]
    /// Whether opening the port for buttons and pedals fails.
    var refusesControls = false
    /// The paths of lines that can be opened.
    var lines: Set<String> = []
    /// The most bytes that a line accepts at once, by its path; a line without an entry accepts all.
    var lineRooms: [String: Int] = [:]
    private(set) var openLines: [Int32: String] = [:]
    /// What outputs of time code have sent, and when it came out.
    private(set) var timeCode: [(message: TimeCodeMessage, time: HostTime)] = []
    /// The machines, with the messages they have received.
    private(set) var machines: [Receiver: DrumMachine] = [:]
    /// The threads that have ended, in order.
    private(set) var endings: [String] = []
    /// Promises that were not kept.
    private(set) var broken: [String] = []
    /// Whether the output thread is held up.
    var isOutputThreadStuck = false {
        didSet {
            stuckSince = isOutputThreadStuck ? now : nil
            excuseMachines()
        }
    }
    private var stuckSince: HostTime?
    /// How often a tick was skipped or repeated.
    var breaks: Int { tickWatch.breaks }

    // The world reads these after each turn and carries out what they ask for.
    var linkRequests: [LinkRequest] = []
    var isBoardNew = true
    var watchedAt: HostTime

    private var now: HostTime
    /// The newest board published for the output thread.
    private var published: OutputBoard
    private var tokens: UInt64 = 0
    private var leaving: Set<Int> = []
    /// The machines that have missed messages and have received only ticks since.
    private var hasMissed: Set<Receiver> = []
    /// Ticks per bar when a machine was last started or told its place.
    private var barsWhenPlaced: [Receiver: Int64] = [:]
    private var nextDescriptor: Int32 = 10
    private var parsers: [String: ClockByteParser] = [:]
    /// When a machine last accepted no messages.
    private var lastStuck: [Receiver: HostTime] = [:]
    private var tickWatch = TickWatch()
    private var stepWatch = StepWatch()
    private var silenceWatch = SilenceWatch()
    private var commandWatch = CommandWatch()

    /// A machine that receives the gateway's clock.
    enum Receiver: Hashable {
        /// At a sequencer port.
        case port(PortAddress)
        /// At the line with this path.
        case line(String)
    }

    static let (outputs, control, clockIn, controls) = (128, 129, 130, 131)

    init(
        _ configuration: GatewayConfiguration, kept: KeptState, clock: NodeClock, random: SeededGenerator,
        at time: WorldTime
    ) {
        var random = random
        now = clock.hostTime(at: time)
        link = Engine(configuration, kept: kept, seed: random.next(), at: now)
        engine = GatewayEngine(
            configuration,
            in: .init(
                link: LinkState(link, at: now), outputClient: Self.outputs, controlClient: Self.control,
                clockIn: ClockEntrance(port: PortAddress(client: Self.clockIn, port: 0)), kept: kept,
                seed: random.next()),
            at: now)
        published = engine.board
        outputThread = VirtualOutputThread(engine.board, at: now)
        status = StatusPicture(engine, at: now)
        watchedAt = now.advanced(byMicroseconds: -10_000_000)
        (self.kept, self.clock, self.random) = (kept, clock, random)
        sequencer.plug(.own(Self.clockIn, 0, "Clock In"))
        for (port, name) in engine.takePortsToMake() { sequencer.plug(.own(Self.outputs, port, name)) }
    }

    /// The gateway's next run, after this one was killed: with what was saved, and the same machines.
    func killed(_ live: LiveConfiguration, at time: WorldTime) -> VirtualGateway {
        let next = VirtualGateway(
            GatewayConfiguration(live, kept: kept), kept: kept, clock: clock, random: random, at: time)
        let own = next.sequencer.ports
        next.sequencer = sequencer
        // The kernel closes the clients of a process that ends.
        for client in [Self.outputs, Self.clockIn, Self.controls] { next.sequencer.unplug(client: client) }
        for port in own { next.sequencer.plug(port) }
        (next.lines, next.lineRooms, next.refusesControls) = (lines, lineRooms, refusesControls)
        (next.broken, next.log) = (broken, log)
        // How long a restart takes is not simulated, so the time without ticks means nothing.
        for receiver in machines.keys { machines[receiver]?.forgetLastTick() }
        (next.machines, next.hasMissed, next.barsWhenPlaced, next.lastStuck) = (
            machines, hasMissed, barsWhenPlaced, lastStuck
        )
        return next
    }

    // The gateway thread.

    /// Gives a command; the reply appears in ``replies``.
    func command(_ command: Command, at now: HostTime) -> ReplyToken {
        tokens += 1
        let token = ReplyToken(number: tokens)
        commandWatch.given(command, token, self)
        self.now = now
        take(.command(command, token))
        commandWatch.taken(command, token, isRefused: refusal(token) != nil)
        check()
        return token
    }

    /// Takes what buttons and pedals send.
    func press(_ arrivals: [ControlArrival], at now: HostTime) {
        commandWatch.pressed()
        take(.controls(arrivals), at: now)
    }

    func take(_ event: GatewayEvent, at now: HostTime) {
        self.now = now
        take(event)
        check()
    }

    func hostTime() -> HostTime { now }

    func deletePort(_ port: Int) {
        if outputThread.isQueued(from: port) { broken.append("port \(port) is deleted while it has something to send") }
        sequencer.unplug(PortAddress(client: Self.outputs, port: port))
    }

    func makePort(_ port: Int, named name: String) {
        if sequencer.ports.contains(where: { $0.address == PortAddress(client: Self.outputs, port: port) }) {
            broken.append("port \(port) is made while it exists")
        }
        sequencer.plug(.own(Self.outputs, port, name))
    }

    func publish(_ board: OutputBoard) {
        checkSlots(of: board)
        published = board
        isBoardNew = true
    }

    func ask(_ request: LinkRequest) { linkRequests.append(request) }

    func unsubscribe(_ subscription: SubscriptionGraph.Subscription) {
        checkIsStopped(before: subscription)
        sequencer.unsubscribe(subscription)
    }

    func close(_ descriptor: Int32) {
        if openLines.removeValue(forKey: descriptor) == nil { broken.append("\(descriptor) is closed twice") }
        if uses(outputThread.board, descriptor) { broken.append("\(descriptor) is closed while it is in use") }
    }

    func closeControls() { sequencer.unplug(PortAddress(client: Self.controls, port: 0)) }
    func keep(_ state: KeptState, _ change: WriteSchedule.Change) { kept = state }
    func write(_ entry: LogEntry) { log.append(entry) }
    func play(on cards: [SoundCardSetup]) {}
    func endCards() {}
    func publish(_ status: StatusPicture) { self.status = status }

    func reply(_ outcome: Result<Void, CommandError>, to token: ReplyToken) {
        if engine.isStatusStale { broken.append("a reply comes before the status") }
        if replies.updateValue(outcome, forKey: token) != nil { broken.append("\(token) has two replies") }
        if case .success = outcome, let promise = commandWatch.fault(ofReplyTo: token, self) { broken.append(promise) }
    }

    // The end of the run; what happens is noted in `endings`.

    func endClock() -> OutputReport {
        readyReceivers()
        deliver(outputThread.finish(at: now))
        endings.append("clock")
        return outputThread.report()
    }

    func endInput() { endings.append("input") }
    func endLink() { endings.append("link") }
    func endReplies() { endings.append("replies") }

    func answer(_ question: GatewayQuestion) -> GatewayAnswer {
        switch question {
        case .subscribe(let subscription):
            do throws(ALSAError) {
                return .subscribed(subscription, isNew: try sequencer.subscribe(subscription))
            } catch {
                return .notSubscribed(subscription, error)
            }
        case .openLine(let place, let path, _):
            guard lines.contains(path) else {
                return .notOpened(place, .system(SystemCallError(operation: path, code: ENOENT)))
            }
            // It would be locked by this very run.
            if openLines.values.contains(path) { broken.append("\(path) is opened while it is open") }
            nextDescriptor += 1
            openLines[nextDescriptor] = path
            return .opened(place, nextDescriptor)
        case .readDriver(let place, let port):
            // What a stuck machine does not accept waits in its driver.
            let sent = machines[.port(port.address)]?.messageCount ?? 0
            return .driver(place, DriverBuffer(sent: sent, waiting: sequencer.stuck.contains(port.address) ? 64 : 0))
        case .openControls:
            guard !refusesControls else {
                return .controlsNotOpened(ALSAError(operation: "snd_seq_open", code: -ENOMEM))
            }
            sequencer.plug(.own(Self.controls, 0, "Controls"))
            return .controlsOpened(PortAddress(client: Self.controls, port: 0))
        }
    }

    // The output thread.

    /// Runs one turn of the output thread and delivers what it sends to the machines.
    ///
    /// - Parameter now: the current time.
    /// - Returns: when to wake the thread next.
    func runClock(at now: HostTime) -> HostTime {
        isBoardNew = false
        // A machine that is plugged in again starts in its initial state.
        for address in sequencer.unplugged { machines[.port(address)] = nil }
        sequencer.unplugged = []
        readyReceivers()
        watchSilence(published, at: now)
        let (sent, wakeAt) = outputThread.turn(published, at: now)
        deliver(sent)
        watchMachines(at: now)
        return wakeAt
    }

    /// Delivers what the queue sends while the output thread is held up.
    func runQueue(at now: HostTime) {
        readyReceivers()
        deliver(outputThread.runQueue(at: now))
        excuseMachines()
    }

    /// Tells the output thread which receivers accept messages now.
    private func readyReceivers() {
        let sequencer = sequencer
        outputThread.refuses = { port in !sequencer.stuck.isDisjoint(with: Self.hearers(of: port, sequencer)) }
        let rooms = openLines.mapValues { [lineRooms] in lineRooms[$0] ?? .max }
        outputThread.room = { rooms[$0] ?? 0 }
    }

    private func deliver(_ sent: [VirtualKernel.Sent]) {
        for sent in sent {
            switch sent {
            case .message(let message, let board, let time): deliver(message, board, at: time)
            case .bytes(let bytes, let wanted, let line, let time): deliver(bytes, of: wanted, to: line, at: time)
            }
        }
    }

    private static func hearers(of port: UInt8, _ sequencer: VirtualSequencer) -> [PortAddress] {
        sequencer.subscriptions.filter { $0.sender == PortAddress(client: outputs, port: Int(port)) }.map(\.receiver)
    }

    /// Delivers what a port sends; `board` is the one that it was planned by.
    private func deliver(_ message: ScheduledMessage, _ board: OutputBoard, at time: HostTime) {
        guard let port = message.port else { return }
        // A Stop does not wait for what is in the queue.
        if let planned = message.planned, planned.message != .clock(.stop),
            time.advanced(byMicroseconds: 80) < planned.due
        {
            broken.append("\(planned.message) leaves early")
        }
        guard case .clock(let clock) = message.message else {
            if case .timeCode(let code) = message.message { timeCode.append((code, time)) }
            return
        }
        var planned: PlannedMessage?
        if case .clock(let message)? = message.planned { planned = message }
        if let fault = tickWatch.fault(of: planned, slot: message.slot, on: board, at: time) { broken.append(fault) }
        for hearer in Self.hearers(of: port, sequencer) {
            let receiver = Receiver.port(hearer)
            guard !sequencer.stuck.contains(hearer) else {
                hasMissed.insert(receiver)
                continue
            }
            hear(clock, board, at: time, slot: message.slot, receiver)
            let tick = planned?.place.tick
            if let tick, !hasMissed.contains(receiver), !isInPlace(receiver, tick, board, slot: message.slot) {
                broken.append("\(hearer) is at another place of the song than tick \(tick)")
            }
        }
    }

    private func deliver(_ bytes: [UInt8], of wanted: Int, to line: Int32, at time: HostTime) {
        guard let path = openLines[line] else { return broken.append("bytes are written to a closed line") }
        let slot = (0..<outputThread.board.count).first { outputThread.board.slots[$0].sink == .line(line) }
        guard let slot else { return broken.append("bytes are written to a line that no output has") }
        if bytes.count < wanted { hasMissed.insert(.line(path)) }
        for byte in bytes {
            guard let message = parsers[path, default: ClockByteParser()].received(byte) else { continue }
            hear(message, outputThread.board, at: time, slot: slot, .line(path))
        }
    }

    private func hear(
        _ message: ClockMessage, _ board: OutputBoard, at time: HostTime, slot: Int, _ receiver: Receiver
    ) {
        if message == .timingClock {
            silenceWatch.ticked(receiver, slot, board, at: time)
        } else {
            hasMissed.remove(receiver)
        }
        switch message {
        case .start, .songPosition: barsWhenPlaced[receiver] = board.transport.ticksPerBar
        default: break
        }
        let fault = machines[receiver, default: DrumMachine()].take(
            message, at: time.microseconds, on: board.map.line, board.slots[slot].settings)
        // A device in an unknown state is sent a Stop, which is harmless if it has already stopped.
        if let fault, message != .stop, !hasMissed.contains(receiver) { broken.append("\(receiver) hears \(fault)") }
    }

    /// Forgets what machines received long ago, so that a gateway can run for days.
    func forgetOldEvents() {
        for receiver in machines.keys { machines[receiver]?.forgetOldEvents() }
    }

    /// Forgives what a stuck output thread has left out.
    private func excuseMachines() {
        tickWatch.excuseAll()
        stepWatch.excuseAll()
        silenceWatch.excuseAll()
    }

    private func watchMachines(at now: HostTime) {
        for address in sequencer.stuck { lastStuck[.port(address)] = now }
        let board = outputThread.board
        tickWatch.take(board, at: now)
        for (receiver, slot) in receivers(on: board) {
            let promise = stepWatch.fault(
                of: receiver, machines[receiver] ?? DrumMachine(), slot, board,
                isReachable: isReachable(receiver) && !isOutputThreadStuck, at: now)
            if let promise { broken.append(promise) }
        }
    }

    /// Checks that every machine gets its ticks, at the beginning of a turn of the output thread.
    private func watchSilence(_ board: OutputBoard, at now: HostTime) {
        // An output with subscribers is watched even if the board takes its device for away.
        let mistaken = engine.outputs.all.enumerated().flatMap { slot, output -> [(receiver: Receiver, slot: Int)] in
            guard let source = output.source, slot < board.count, board.slots[slot].sink == .idle,
                output.presence == .here, !maySendNothing(output)
            else { return [] }
            return Self.hearers(of: UInt8(source.port), sequencer).map { (.port($0), slot) }
        }
        let receivers = receivers(on: board) + mistaken
        silenceWatch.take(board, at: now)
        silenceWatch.keepOnly(Set(receivers.map(\.receiver)))
        for (receiver, slot) in receivers {
            let promise = silenceWatch.fault(
                of: receiver, isPlaying: machines[receiver]?.isPlaying == true, slot, board,
                isReachable: isReachable(receiver), at: now)
            if let promise { broken.append(promise) }
        }
    }

    /// Whether an output has a reason to send nothing: its machine leads, or waits for a session after a crash.
    private func maySendNothing(_ output: Output) -> Bool {
        output.isHeldBack && engine.recovery.deadline != nil
            || output.isDriving(engine.arbiter.leader, device: engine.inputs.clockIn?.device?.name)
    }

    /// The machines that hear the outputs of a board, and their slots.
    func receivers(on board: OutputBoard) -> [(receiver: Receiver, slot: Int)] {
        (0..<board.count).filter { board.slots[$0].stream == .clock }.flatMap { slot in
            let receivers: [Receiver] =
                switch board.slots[slot].sink {
                case .port(let port): Self.hearers(of: port, sequencer).map { .port($0) }
                case .line(let line): openLines[line].map { [.line($0)] } ?? []
                case .idle, .discard, .card: []
                }
            return receivers.map { ($0, slot) }
        }
    }

    func isReachable(_ receiver: Receiver) -> Bool {
        switch receiver {
        case .port(let address): !sequencer.stuck.contains(address)
        case .line(let path): lineRooms[path] == nil
        }
    }

    // The promises.

    /// Whether a machine that has just received a tick is at the song's position, if it plays.
    private func isInPlace(_ receiver: Receiver, _ tick: Int64, _ board: OutputBoard, slot: Int) -> Bool {
        let (settings, transport) = (board.slots[slot].settings, board.transport)
        guard let machine = machines[receiver], machine.isPlaying, machine.events.last?.message == .timingClock,
            settings.multiply == 1, settings.divide == 1, settings.tempos == .all
        else { return true }
        let ahead = machine.songPosition - 1 - (tick - transport.startTick)
        guard settings.takesSongPosition else {
            // A machine without song position counts from the bar at which it was started.
            return barsWhenPlaced[receiver] != transport.ticksPerBar || ahead % transport.ticksPerBar == 0
        }
        // A song position has 14 bits, so it wraps around after the last whole bar that fits.
        let sixteenthsPerBar = (barsWhenPlaced[receiver] ?? transport.ticksPerBar) / 6
        return ahead % (16_384 / sixteenthsPerBar * sixteenthsPerBar * 6) == 0
    }

    private func uses(_ board: OutputBoard, _ descriptor: Int32) -> Bool {
        (0..<board.count).contains { board.slots[$0].sink == .line(descriptor) }
    }

    /// Checks that a machine has been sent its Stop before it is disconnected.
    private func checkIsStopped(before subscription: SubscriptionGraph.Subscription) {
        guard subscription.sender.client == Self.outputs else { return }
        let slot = subscription.sender.port
        // Another output that drives the machine may have started it again.
        let isDrivenAgain = sequencer.subscriptions.contains {
            $0.receiver == subscription.receiver && $0.sender.client == Self.outputs && $0 != subscription
        }
        let receiver = Receiver.port(subscription.receiver)
        // A machine that accepts messages again is sent its Stop within a quarter of a second, unless the output thread is
        // held up.
        let wasStuck = lastStuck[receiver].map { $0.microseconds(to: stuckSince ?? now) < 300_000 } ?? false
        guard leaving.contains(slot), !isDrivenAgain, !wasStuck else { return }
        if machines[receiver]?.isPlaying == true {
            broken.append("output \(slot) is disconnected before its Stop is sent")
        }
    }

    /// Records that the Link peer has carried out what a command asked of it.
    func linkHasDone(_ token: ReplyToken) { commandWatch.linkHasDone(token) }

    /// Records the tempo that the Link peer has now.
    func linkHasTempo(_ tempo: Tempo) { commandWatch.linkHasTempo(tempo) }

    /// Records a broken promise.
    func fail(_ promise: String) { broken.append(promise) }

    private func checkSlots(of board: OutputBoard) {
        let inUse = outputThread.board
        for slot in 0..<min(board.count, inUse.count) where board.slots[slot].occupant != inUse.slots[slot].occupant {
            if outputThread.isQueued(from: slot) { broken.append("slot \(slot) is another's too early") }
        }
    }

    /// Checks the promises that must hold after every event.
    func check() {
        if let fault = commandWatch.fault(ofKept: kept, self) { broken.append(fault) }
        // Ports to which only their own programs connect anything, as those of bridges.
        let closed = Set(sequencer.ports.filter { !$0.isWritable }.map(\.address))
        for (slot, output) in engine.outputs.all.enumerated() {
            if case .leaving = output.presence { leaving.insert(slot) }
            if case .here = output.presence { leaving.remove(slot) }
            let hearers = sequencer.subscriptions.count { $0.sender == output.source && !closed.contains($0.receiver) }
            if output.hasOneDevice, hearers > 1 { broken.append("\(output.name) drives \(hearers) machines") }
            if case .line(let descriptor) = output.sink, openLines[descriptor] == nil {
                broken.append("\(output.name) writes to a closed line")
            }
        }
        if engine.arbiter.following != nil, engine.arbiter.isLinkLeading || link.isEnabled { broken.append("two lead") }
        for output in engine.outputs.all where output.presence == .here {
            if kept.outputs[output.id] ?? KeptOutput() != output.live.kept {
                broken.append("what was set at \(output.name) is not kept")
            }
        }
    }
}

extension VirtualGateway {
    /// An output as the status shows it; nil if there is none of this name.
    func output(_ name: String) -> Output? { status.outputs.first { $0.name == name && $0.presence == .here } }

    /// The client numbers of an output's receivers, in ascending order.
    func hearers(of name: String) -> [Int] {
        guard let source = output(name)?.source else { return [] }
        return sequencer.subscriptions.filter { $0.sender == source }.map(\.receiver.client).sorted()
    }

    /// Why a command was refused; nil if it was accepted or has no reply yet.
    func refusal(_ token: ReplyToken) -> CommandError? {
        if case .failure(let refusal) = replies[token] { refusal } else { nil }
    }
}

extension PortDescription {
    /// A port of the gateway itself.
    static func own(_ client: Int, _ port: Int, _ name: String) -> PortDescription {
        PortDescription(
            address: PortAddress(client: client, port: port), clientName: "Tactus", portName: name,
            isReadable: client == VirtualGateway.outputs, isWritable: client != VirtualGateway.outputs)
    }
}
