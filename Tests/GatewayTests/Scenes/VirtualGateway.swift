import ALSASequencer
import BeatTime
import ConfigurationFiles
import GatewayStatus
import LinkNetwork
import LinkSession
import MIDIClock
import RealTime
import Simulation

@testable import Arbiter
@testable import ClockDispatch
@testable import Gateway

/// A whole gateway in virtual time: the real engines and dispatcher, on a sequencer, lines and machines that are values.
///
/// ``GatewayWorld`` has its threads run. After each event it checks what must hold whatever happens; ``broken`` gathers
/// what did not.
final class VirtualGateway {
    private(set) var engine: GatewayEngine
    /// The Link peer; its thread is the world.
    var link: Engine
    var sequencer = VirtualSequencer()
    let clockThread: VirtualClockThread
    let clock: NodeClock
    var random: SeededGenerator
    private(set) var status: StatusPicture
    private(set) var log: [LogEntry] = []
    private(set) var kept: KeptState
    private(set) var replies: [ReplyToken: Result<Void, CommandError>] = [:]
    /// The paths of lines that can be opened.
    var lines: Set<String> = []
    private(set) var openLines: [Int32: String] = [:]
    /// What machines have heard, by their ports.
    private(set) var machines: [PortAddress: DrumMachine] = [:]
    /// Promises that were not kept.
    private(set) var broken: [String] = []
    /// Whether the clock thread is held up.
    var isClockThreadStuck = false
    /// How often a train of ticks was broken: a number left out or repeated.
    private(set) var breaks = 0

    // What the world is to see to.
    var linkRequests: [LinkRequest] = []
    var isBoardNew = true
    var watchedAt: HostTime

    private var portNames: [Int: String] = [:]
    private var tokens: UInt64 = 0
    private var leaving: Set<Int> = []
    /// The machines that have missed messages, and have not been told since what to do.
    private var hasMissed: Set<PortAddress> = []
    private var nextDescriptor: Int32 = 10
    private var lastTicks: [UInt8: Int64] = [:]

    static let (outputs, control, clockIn, controls) = (128, 129, 130, 131)

    init(
        _ configuration: GatewayConfiguration, kept: KeptState, clock: NodeClock, random: SeededGenerator,
        at time: WorldTime
    ) {
        var random = random
        let now = clock.hostTime(at: time)
        link = Engine(tempo: configuration.tempo, seed: random.next(), at: now)
        engine = GatewayEngine(
            configuration,
            in: .init(
                link: LinkState(link), outputClient: Self.outputs, controlClient: Self.control,
                clockIn: ClockEntrance(port: PortAddress(client: Self.clockIn, port: 0)), kept: kept,
                seed: random.next()),
            at: now)
        clockThread = VirtualClockThread(engine.board, at: now)
        status = StatusPicture(engine)
        watchedAt = now.advanced(byMicroseconds: -10_000_000)
        (self.kept, self.clock, self.random) = (kept, clock, random)
        sequencer.plug(.own(Self.clockIn, 0, "Clock In"))
        for (port, name) in engine.takePortNames() {
            portNames[port] = name
            clockThread.makePort(port)
            sequencer.plug(.own(Self.outputs, port, name))
        }
    }

    // The gateway thread.

    /// Gives a command; ``replies`` takes its outcome.
    func command(_ command: Command, at now: HostTime) -> ReplyToken {
        tokens += 1
        let token = ReplyToken(number: tokens)
        take(.command(command, token), at: now)
        return token
    }

    func take(_ event: GatewayEvent, at now: HostTime) {
        var effects = engine.take(event, at: now)
        while true {
            let answers = carryOut(effects, at: now)
            check()
            guard !answers.isEmpty else { return }
            effects = engine.take(.answers(answers), at: now)
        }
    }

    private func carryOut(_ effects: GatewayEffects, at now: HostTime) -> [GatewayAnswer] {
        for (port, name) in effects.portNames {
            if clockThread.ports >> UInt64(port) & 1 == 1 { broken.append("port \(port) is named while it exists") }
            portNames[port] = name
        }
        isBoardNew = isBoardNew || effects.isBoardNew
        linkRequests += effects.link
        for subscription in effects.unsubscriptions {
            noteUnsubscribing(subscription)
            sequencer.unsubscribe(subscription)
        }
        for descriptor in effects.closings {
            if openLines.removeValue(forKey: descriptor) == nil { broken.append("\(descriptor) is closed twice") }
            if uses(clockThread.board, descriptor) { broken.append("\(descriptor) is closed while it is in use") }
        }
        if effects.closesControls { sequencer.unplug(PortAddress(client: Self.controls, port: 0)) }
        let answers = effects.questions.map { answer($0) }
        if let (state, _) = effects.kept { kept = state }
        log += effects.log
        if let status = effects.status { self.status = status }
        if !effects.replies.isEmpty, engine.isStatusStale { broken.append("a reply comes before the status") }
        for (token, outcome) in effects.replies where replies.updateValue(outcome, forKey: token) != nil {
            broken.append("\(token) has two replies")
        }
        return answers
    }

    private func answer(_ question: GatewayQuestion) -> GatewayAnswer {
        switch question {
        case .subscribe(let subscription):
            do throws(ALSAError) {
                return .subscribed(subscription, isNew: try sequencer.subscribe(subscription))
            } catch {
                return .notSubscribed(subscription, error)
            }
        case .openLine(let place, let path, _):
            guard lines.contains(path) else { return .notOpened(place, "\(path): No such file or directory") }
            nextDescriptor += 1
            openLines[nextDescriptor] = path
            return .opened(place, nextDescriptor)
        case .lookAtDriver(let place, _): return .driver(place, nil)
        case .openControls:
            sequencer.plug(.own(Self.controls, 0, "Controls"))
            return .controlsOpened(PortAddress(client: Self.controls, port: 0))
        }
    }

    // The clock thread.

    /// Has the clock thread do what is due, and machines hear it.
    ///
    /// - Parameter now: the present time.
    /// - Returns: when to wake it again.
    func runClock(at now: HostTime) -> HostTime {
        isBoardNew = false
        // What comes back has been off.
        for address in sequencer.unplugged { machines[address] = nil }
        sequencer.unplugged = []
        let (before, sequencer) = (clockThread.ports, sequencer)
        let (sent, wakeAt) = clockThread.turn(engine.board, at: now) { port in
            !sequencer.stuck.isDisjoint(with: Self.hearers(of: port, sequencer))
        }
        for port in 0..<OutputBoard.capacity where (before ^ clockThread.ports) >> UInt64(port) & 1 == 1 {
            if clockThread.ports >> UInt64(port) & 1 == 0 {
                self.sequencer.unplug(PortAddress(client: Self.outputs, port: port))
            } else if let name = portNames[port] {
                self.sequencer.plug(.own(Self.outputs, port, name))
            } else {
                broken.append("port \(port) has no name")
            }
        }
        for message in sent { deliver(message) }
        return wakeAt
    }

    private static func hearers(of port: UInt8, _ sequencer: VirtualSequencer) -> [PortAddress] {
        sequencer.subscriptions.filter { $0.sender == PortAddress(client: outputs, port: Int(port)) }.map(\.receiver)
    }

    private func deliver(_ sent: VirtualKernel.Sent) {
        guard let port = sent.message.port else { return }
        let settings = clockThread.settings(of: sent.message.slot)
        if let planned = sent.message.planned, sent.time < planned.due {
            broken.append("\(planned.message) leaves early")
        }
        if sent.isTaken, let planned = sent.message.planned, planned.message == .timingClock {
            let tick = planned.place.tick
            if let last = lastTicks[port], tick != last + 1, settings.multiply == 1, settings.divide == 1 {
                breaks += 1
            }
            lastTicks[port] = tick
        }
        for hearer in Self.hearers(of: port, sequencer) {
            guard !sequencer.stuck.contains(hearer) else {
                hasMissed.insert(hearer)
                continue
            }
            if sent.message.message != .timingClock { hasMissed.remove(hearer) }
            let fault = machines[hearer, default: DrumMachine()].take(
                sent.message.message, at: sent.time.microseconds, on: clockThread.board.map.line, settings)
            let tick = sent.message.planned?.place.tick
            if let tick, !hasMissed.contains(hearer), !isInPlace(machines[hearer], tick) {
                broken.append("\(hearer) is at another place of the song than tick \(tick)")
            }
            // A device whose state is unknown gets a Stop, which disturbs none that has stopped.
            if let fault, sent.message.message != .stop { broken.append("\(hearer) hears \(fault)") }
        }
    }

    // What must hold.

    /// Whether a machine that has just heard a tick, if it plays, is where the song is; song positions are of 14 bits.
    private func isInPlace(_ machine: DrumMachine?, _ tick: Int64) -> Bool {
        guard let machine, machine.isPlaying, machine.events.last?.message == .timingClock else { return true }
        let transport = clockThread.board.transport
        let sixteenthsPerBar = transport.ticksPerBar / 6
        let cycle = 16_384 / sixteenthsPerBar * sixteenthsPerBar * 6
        return (machine.songPosition - 1 - (tick - transport.startTick)) % cycle == 0
    }

    private func uses(_ board: OutputBoard, _ descriptor: Int32) -> Bool {
        (0..<board.count).contains { board.slots[$0].sink == .line(descriptor) }
    }

    /// A machine that is let go has had the time to hear its Stop.
    private func noteUnsubscribing(_ subscription: SubscriptionGraph.Subscription) {
        guard subscription.sender.client == Self.outputs else { return }
        let slot = subscription.sender.port
        guard leaving.contains(slot) else { return }
        if machines[subscription.receiver]?.isPlaying == true, !sequencer.stuck.contains(subscription.receiver) {
            broken.append("output \(slot) is let go before its Stop has left")
        }
    }

    /// Notes a promise that was broken.
    func fail(_ promise: String) { broken.append(promise) }

    private func checkSlots() {
        let (board, inUse) = (engine.board, clockThread.board)
        for slot in 0..<min(board.count, inUse.count) where board.slots[slot].occupant != inUse.slots[slot].occupant {
            if inUse.ports >> UInt64(slot) & 1 == 1 { broken.append("slot \(slot) is another's too early") }
        }
    }

    /// Sees whether what must hold does.
    func check() {
        for (slot, output) in engine.outputs.all.enumerated() {
            if case .leaving = output.presence { leaving.insert(slot) }
            if case .here = output.presence { leaving.remove(slot) }
            let hearers = sequencer.subscriptions.count { $0.sender == output.source }
            if output.hasOneDevice, hearers > 1 { broken.append("\(output.name) drives \(hearers) machines") }
            if case .line(let descriptor) = output.sink, openLines[descriptor] == nil {
                broken.append("\(output.name) writes to a closed line")
            }
        }
        if isBoardNew { checkSlots() }
        if engine.arbiter.following != nil, engine.arbiter.isLinkLeading || link.isEnabled { broken.append("two lead") }
        for output in engine.outputs.all where output.presence == .here && kept.offsets[output.id] != output.liveOffset
        {
            if output.liveOffset != nil || kept.offsets[output.id]?.value(over: 0) != nil {
                broken.append("the offset of \(output.name) is not kept")
            }
        }
    }
}

extension VirtualGateway {
    /// What the status shows of an output; nil if it is not there.
    func output(_ name: String) -> Output? { status.outputs.first { $0.name == name && $0.presence == .here } }

    /// Who hears an output, by client numbers.
    func hearers(of name: String) -> [Int] {
        guard let source = output(name)?.source else { return [] }
        return sequencer.subscriptions.filter { $0.sender == source }.map(\.receiver.client).sorted()
    }

    /// Why a command was refused; nil if it was not, or is not replied to yet.
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
