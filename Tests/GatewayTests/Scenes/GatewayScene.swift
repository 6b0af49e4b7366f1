import ALSASequencer
import Arbiter
import BeatTime
import ClockDispatch
import ConfigurationFiles
import GatewayStatus
import LinkNetwork
import LinkSession
import MIDIClock
import RealTime

@testable import Gateway

/// A whole gateway in virtual time: the real engines, on a sequencer, lines and a clock thread that are values.
///
/// After each event it checks what must hold whatever happens; ``broken`` gathers what did not.
struct GatewayScene {
    private(set) var engine: GatewayEngine
    private(set) var link: Engine
    var sequencer = VirtualSequencer()
    private(set) var now = HostTime(microseconds: 10_000_000)
    private(set) var status: StatusPicture
    private(set) var log: [LogEntry] = []
    private(set) var kept = KeptState()
    private(set) var replies: [ReplyToken: Result<Void, CommandError>] = [:]
    /// The paths of lines that can be opened.
    var lines: Set<String> = []
    private(set) var openLines: [Int32: String] = [:]
    /// Promises that were not kept.
    private(set) var broken: [String] = []
    /// Whether the clock thread is held up.
    var isClockThreadStuck = false

    private var linkRequests: [LinkRequest] = []
    private var boardInUse: OutputBoard
    private var portNames: [Int: String] = [:]
    private var brokenLines: UInt64 = 0
    private var existingPorts: UInt64 = 0
    private var tokens: UInt64 = 0
    private var watchedAt = HostTime(microseconds: 0)
    private var leavingSince: [Int: HostTime] = [:]
    private var nextDescriptor: Int32 = 10

    static let (outputs, control, clockIn, controls) = (128, 129, 130, 131)

    init(_ configuration: GatewayConfiguration, kept: KeptState = KeptState()) {
        link = Engine(tempo: configuration.tempo, seed: 1, at: now)
        engine = GatewayEngine(
            configuration,
            in: .init(
                link: LinkState(link), outputClient: Self.outputs, controlClient: Self.control,
                clockIn: ClockEntrance(port: PortAddress(client: Self.clockIn, port: 0)), kept: kept, seed: 7),
            at: now)
        boardInUse = engine.board
        status = StatusPicture(engine)
        sequencer.plug(.own(Self.clockIn, 0, "Clock In"))
        for (port, name) in engine.takePortNames() {
            portNames[port] = name
            makePort(port)
        }
        take(.started)
        run(for: 0)
    }

    // What somebody does.

    /// Gives a command; ``replies`` takes its outcome.
    @discardableResult
    mutating func command(_ command: Command) -> ReplyToken {
        tokens += 1
        let token = ReplyToken(number: tokens)
        take(.command(command, token))
        return token
    }

    mutating func hear(_ events: [ClockInputEvent]) { take(.clocks(events)) }

    mutating func press(_ arrivals: [ControlArrival]) { take(.controls(arrivals)) }

    mutating func watch() { watchedAt = now }

    /// A line that is open takes no more.
    mutating func breakLine(_ slot: Int) { brokenLines |= 1 << UInt64(slot) }

    /// Has milliseconds pass, and everybody do what they have to.
    mutating func run(for milliseconds: Int64) {
        let end = now.advanced(byMicroseconds: milliseconds * 1_000)
        repeat {
            runLinkThread()
            runClockThread()
            if sequencer.hasAnnouncement { take(.ports(sequencer.read())) }
            let account = ClockAccount(
                generationInUse: boardInUse.generation, existingPorts: existingPorts, brokenLines: brokenLines,
                mayPlay: boardInUse.transport.isPlaying ? .max : 0)
            brokenLines = 0
            take(.turn(account, watchedAt: watchedAt))
            let next = engine.nextDeadline(after: now) ?? end
            guard now < end else { break }
            now = min(end, max(next, now.advanced(byMicroseconds: 1_000)))
        } while true
    }

    // The other threads.

    private mutating func runLinkThread() {
        let requests = linkRequests
        linkRequests = []
        for request in requests {
            var token: ReplyToken?
            switch request {
            case .edit(let edit, let waiting):
                _ = link.edit(at: now) { edit.apply(to: &$0, at: now) }
                token = waiting
            case .setEnabled(let isOn, let waiting):
                _ = link.setEnabled(isOn, at: now)
                token = waiting
            case .setStartStopSync(let isOn, let waiting):
                link.setStartStopSync(isOn)
                token = waiting
            case .setActive(let isActive): _ = link.setActive(isActive, at: now)
            }
            take(.link(LinkState(link)))
            if let token { take(.done(token)) }
        }
    }

    private mutating func runClockThread() {
        guard !isClockThreadStuck else { return }
        boardInUse = engine.board
        for port in 0..<OutputBoard.capacity where (existingPorts ^ boardInUse.ports) >> UInt64(port) & 1 == 1 {
            if boardInUse.ports >> UInt64(port) & 1 == 1 { makePort(port) } else { deletePort(port) }
        }
    }

    private mutating func makePort(_ port: Int) {
        guard let name = portNames[port] else { return broken.append("port \(port) has no name") }
        existingPorts |= 1 << UInt64(port)
        sequencer.plug(.own(Self.outputs, port, name))
    }

    private mutating func deletePort(_ port: Int) {
        existingPorts &= ~(1 << UInt64(port))
        sequencer.unplug(PortAddress(client: Self.outputs, port: port))
    }

    // The loop.

    private mutating func take(_ event: GatewayEvent) {
        var effects = engine.take(event, at: now)
        while true {
            let answers = carryOut(effects)
            check()
            guard !answers.isEmpty else { return }
            effects = engine.take(.answers(answers), at: now)
        }
    }

    private mutating func carryOut(_ effects: GatewayEffects) -> [GatewayAnswer] {
        for (port, name) in effects.portNames {
            if existingPorts >> UInt64(port) & 1 == 1 { broken.append("port \(port) is named while it exists") }
            portNames[port] = name
        }
        linkRequests += effects.link
        for subscription in effects.unsubscriptions {
            noteUnsubscribing(subscription)
            sequencer.unsubscribe(subscription)
        }
        for descriptor in effects.closings {
            if openLines.removeValue(forKey: descriptor) == nil { broken.append("\(descriptor) is closed twice") }
            if uses(boardInUse, descriptor) { broken.append("\(descriptor) is closed while it is in use") }
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

    private mutating func answer(_ question: GatewayQuestion) -> GatewayAnswer {
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

    // What must hold.

    private func uses(_ board: OutputBoard, _ descriptor: Int32) -> Bool {
        (0..<board.count).contains { board.slots[$0].sink == .line(descriptor) }
    }

    /// A machine that is let go has had the time to hear its Stop.
    private mutating func noteUnsubscribing(_ subscription: SubscriptionGraph.Subscription) {
        guard subscription.sender.client == Self.outputs else { return }
        let slot = subscription.sender.port
        guard let since = leavingSince[slot], since.microseconds(to: now) < 200_000 else { return }
        broken.append("output \(slot) is let go before its Stop has left")
    }

    private mutating func check() {
        for (slot, output) in engine.outputs.all.enumerated() {
            if case .leaving = output.presence { leavingSince[slot] = leavingSince[slot] ?? now }
            if case .here = output.presence { leavingSince[slot] = nil }
            let hearers = sequencer.subscriptions.filter { $0.sender == output.source }
            if output.hasOneDevice, hearers.count > 1 {
                broken.append("\(output.name) drives \(hearers.count) machines")
            }
            if case .line(let descriptor) = output.sink, openLines[descriptor] == nil {
                broken.append("\(output.name) writes to a closed line")
            }
        }
        let board = engine.board
        for slot in 0..<min(board.count, boardInUse.count)
        where board.slots[slot].occupant != boardInUse.slots[slot].occupant {
            if boardInUse.ports >> UInt64(slot) & 1 == 1 { broken.append("slot \(slot) is another's too early") }
        }
        if engine.arbiter.mode == .follow, engine.arbiter.wantsLink { broken.append("two lead") }
        for output in engine.outputs.all where output.presence == .here && kept.offsets[output.id] != output.liveOffset
        {
            if output.liveOffset != nil || kept.offsets[output.id]?.value(over: 0) != nil {
                broken.append("the offset of \(output.name) is not kept")
            }
        }
    }
}

extension GatewayScene {
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
            isReadable: client == GatewayScene.outputs, isWritable: client != GatewayScene.outputs)
    }
}
