import BeatTime
import GatewayStatus
import LinkSession
import LoopGuard
import MIDIClock
import Simulation

@testable import Arbiter

/// Whole gateways in virtual time: Link engine, arbiter, tick planner and a drum machine each, with clocks of their
/// own, on a network that delays and loses.
///
/// The threads are events: news reach the arbiter a little after the engine, and the output thread wakes a little
/// late. After each event: no drum machine has been given cause to stumble, no tick has left early, and a machine that
/// plays is where its gateway's song is.
struct GatewayWorld {
    let scenario: String
    let seed: UInt64
    private(set) var nodes: [Node] = []
    var medium: LinkMedium
    private(set) var trace = Trace()
    /// The newest leader of each gateway: when its ticks truly fall, and which of them is the top of its song.
    var leaders: [Int: (truth: [WorldTime], top: Int?)] = [:]
    private var simulation = Simulation<Event>()
    private var random: SeededGenerator

    struct Node {
        var engine: Engine
        var arbiter: Arbiter
        var planner = TickPlanner()
        var settings = OutputSettings()
        var machine = DrumMachine()
        let clock: NodeClock
        var random: SeededGenerator
        var wakeAt: HostTime?
        /// Requests to the network thread keep their order: the next one comes after this time.
        var lastRequest = WorldTime.seconds(0)
        /// News of the network thread keep theirs.
        var lastNews = WorldTime.seconds(0)
        /// When its arbiter looks for leaders that have fallen silent.
        var leaderDeadline: HostTime?
        /// Counts the times that its output thread was told when to wake.
        var alarm = 0
        /// The number of the last tick sent.
        var lastTick: Int64?
        /// How often the train of ticks was broken: a number left out or repeated.
        var breaks = 0
    }

    private enum Request {
        case edit(SessionEdit)
        case enableLink(Bool)
    }

    private enum Event {
        case delivery(LinkMedium.Delivery)
        case engineWakes(Int)
        /// Unless it has been told since to wake at another time.
        case outputWakes(Int, alarm: Int)
        case news(Int, LinkView)
        /// What a gateway's network thread is asked to do.
        case request(Int, Request)
        case clock(Int, ClockArrival)
        case leaderIsDue(Int, HostTime)
        case action((inout GatewayWorld) throws -> Void)
    }

    init(_ scenario: String, seed: UInt64, conditions: LinkConditions = LinkConditions()) {
        self.scenario = scenario
        self.seed = seed
        random = SeededGenerator(seed: seed)
        medium = LinkMedium(network: VirtualNetwork(conditions, random: random.split("network")))
    }

    /// Where leaders come in.
    static let sources: Set<ClockSource> = [.device, .port(client: 20, port: 0), .port(client: 24, port: 0)]

    var now: WorldTime { simulation.now }

    /// Adds a gateway; Link is off, and its clock runs.
    mutating func addNode(tempo: Double, quantum: Double = 4) -> Int {
        let index = nodes.count
        var own = random.split("node \(index)")
        let clock = NodeClock(skewUpTo: 30, using: &own)
        let engine = Engine(tempo: Tempo(beatsPerMinute: tempo), seed: own.next(), at: clock.hostTime(at: now))
        nodes.append(
            Node(
                engine: engine,
                arbiter: Arbiter(
                    LinkView(engine), quantum: Beats(quantum), following: .anyOf(Self.sources), seed: own.next()),
                clock: clock, random: own))
        medium.plug(index)
        wakeOutput(of: index, at: now)
        return index
    }

    func hostTime(of node: Int) -> HostTime { nodes[node].clock.hostTime(at: now) }

    /// The plan that a gateway's output thread has.
    func plan(of node: Int) -> OutputPlan {
        OutputPlan(
            transport: nodes[node].arbiter.transport, settings: nodes[node].settings,
            probe: nodes[node].arbiter.loopGuard.probing?.probe ?? .none)
    }

    /// Where a gateway's ticks fall.
    func line(of node: Int) -> TickLine { nodes[node].arbiter.line }

    mutating func at(_ seconds: Double, _ action: @escaping (inout GatewayWorld) throws -> Void) {
        simulation.schedule(.action(action), at: .seconds(seconds))
    }

    mutating func run(until seconds: Double) throws {
        while let event = simulation.next(until: .seconds(seconds)) {
            switch event {
            case .delivery(let delivery):
                touch(delivery.node) { engine, now in
                    engine.received(
                        delivery.bytes, from: delivery.source, on: delivery.interface, channel: delivery.channel,
                        at: now)
                }
            case .engineWakes(let node):
                nodes[node].wakeAt = nil
                touch(node) { engine, now in engine.timePassed(to: now) }
            case .outputWakes(let node, let alarm): if alarm == nodes[node].alarm { try output(node) }
            case .news(let node, let view): conduct(node) { $0.linkChanged(view, at: $1) }
            case .request(let node, .edit(let edit)): try commit(edit, at: node)
            case .request(let node, .enableLink(let isEnabled)): switchLink(isEnabled, at: node)
            case .clock(let node, let arrival):
                conduct(node) { $0.received([arrival], reach: LoneGateway.reach, at: $1) }
            case .leaderIsDue(let node, let time):
                guard nodes[node].leaderDeadline == time else { continue }
                nodes[node].leaderDeadline = nil
                conduct(node) { $0.timePassed(to: $1) }
            case .action(let action): try action(&self)
            }
            try checkExclusion()
        }
    }

    mutating func setSettings(_ settings: OutputSettings, at node: Int) { nodes[node].settings = settings }

    /// Has a gateway hear a message of some machine's clock, sent now.
    mutating func hear(_ message: ClockMessage, from source: ClockSource = .device, at node: Int) {
        trace.record("hears", node: node, [Int64(message.wire.bytes)], at: now)
        let arrival = ClockArrival(message, at: hostTime(of: node), from: source)
        let delay = Int64.random(in: 20...400, using: &nodes[node].random)
        simulation.schedule(.clock(node, arrival), at: now.advanced(byMicroseconds: delay))
    }

    /// Has the user play or stop.
    mutating func setPlaying(_ isPlaying: Bool, at node: Int) {
        conduct(node) { $0.setPlaying(isPlaying, reach: LoneGateway.reach, at: $1) }
    }

    /// Has a machine's transport act as a remote control at a gateway.
    mutating func setRemote(_ source: ClockSource, at node: Int) {
        conduct(node) { $0.hear(Self.heard(.anyOf(Self.sources), remotes: [source]), at: $1) }
    }

    /// All machines there are, none of which hears us.
    private static func heard(_ choice: LeaderChoice, remotes: Set<ClockSource> = []) -> HeardClocks {
        HeardClocks(choice: choice, paths: sources.reduce(into: [:]) { $0[$1] = .unknown }, remotes: remotes)
    }

    /// Has all ports vanish that leaders came in by.
    mutating func unplugLeaders(of node: Int) {
        conduct(node) { $0.hear(HeardClocks(choice: .anyOf([]), paths: [:]), at: $1) }
        choose(.anyOf(Self.sources), at: node)
    }

    /// Says which leader a gateway may follow.
    mutating func choose(_ choice: LeaderChoice, at node: Int) {
        conduct(node) { $0.hear(Self.heard(choice), at: $1) }
    }

    private mutating func conduct(_ node: Int, _ body: (inout Arbiter, HostTime) -> SessionEdit?) {
        let before = (nodes[node].arbiter.line, nodes[node].arbiter.transport)
        if let answer = body(&nodes[node].arbiter, hostTime(of: node)) { edit(node, answer) }
        if before != (nodes[node].arbiter.line, nodes[node].arbiter.transport) {
            // News wake the output thread.
            wakeOutput(of: node, at: now.advanced(byMicroseconds: .random(in: 5...150, using: &nodes[node].random)))
        }
        guard let deadline = nodes[node].arbiter.nextDeadline, deadline != nodes[node].leaderDeadline else { return }
        nodes[node].leaderDeadline = deadline
        simulation.schedule(.leaderIsDue(node, deadline), at: nodes[node].clock.worldTime(of: deadline))
    }

    mutating func setLink(_ isEnabled: Bool, at node: Int) {
        if let handOver = nodes[node].arbiter.linkSwitched(on: isEnabled) { edit(node, handOver) }
        post(.enableLink(isEnabled), to: node)
    }

    private mutating func switchLink(_ isEnabled: Bool, at node: Int) {
        touch(node) { engine, now in engine.setEnabled(isEnabled, at: now) }
        guard isEnabled else { return }
        touch(node) { engine, now in
            engine.interfaceAppeared(
                LinkMedium.address(of: node), measurementEndpoint: LinkMedium.measurementEndpoint(of: node), at: now)
        }
    }

    mutating func setStartStopSync(_ isEnabled: Bool, at node: Int) { nodes[node].engine.setStartStopSync(isEnabled) }

    mutating func edit(_ node: Int, _ edit: SessionEdit) {
        trace.record("edits", node: node, at: now)
        nodes[node].arbiter.asked(for: edit, at: hostTime(of: node))
        post(.edit(edit), to: node)
    }

    private mutating func post(_ request: Request, to node: Int) {
        let delay = Int64.random(in: 20...400, using: &nodes[node].random)
        let time = max(now.advanced(byMicroseconds: delay), nodes[node].lastRequest.advanced(byMicroseconds: 1))
        nodes[node].lastRequest = time
        simulation.schedule(.request(node, request), at: time)
    }

    private mutating func commit(_ edit: SessionEdit, at node: Int) throws {
        if case .goOn = edit, nodes[node].engine.isEnabled {
            throw broken("a leader's beat reaches the session of node \(node)")
        }
        touch(node) { engine, now in engine.edit(at: now) { edit.apply(to: &$0, at: now) } }
    }

    /// Never two leaders: whoever follows a leader has left the network, and has nothing under way to it.
    private func checkExclusion() throws {
        for (index, node) in nodes.enumerated() where node.arbiter.following != nil {
            guard node.arbiter.mode == .follow, !node.engine.isEnabled, !node.arbiter.isLinkLeading else {
                throw broken("node \(index) obeys two leaders")
            }
        }
    }

    func broken(_ promise: String) -> BrokenPromise {
        BrokenPromise(promise, scenario: scenario, seed: seed, time: now, trace: trace)
    }

    private mutating func touch(_ index: Int, _ body: (inout Engine, HostTime) -> [Datagram]) {
        let now = hostTime(of: index)
        let before = nodes[index].engine.sessionState
        for datagram in body(&nodes[index].engine, now) {
            for arrival in medium.carry(datagram, from: index, at: self.now) {
                simulation.schedule(.delivery(arrival.delivery), at: arrival.time)
            }
        }
        let view = LinkView(nodes[index].engine)
        let known = nodes[index].arbiter.link
        if view.state != before || view.switchings != known.switchings || view.edits != known.edits {
            trace.record("has news", node: index, [view.state.timeline.timeOrigin.microseconds], at: self.now)
            let delay = Int64.random(in: 20...400, using: &nodes[index].random)
            let time = max(self.now.advanced(byMicroseconds: delay), nodes[index].lastNews.advanced(byMicroseconds: 1))
            nodes[index].lastNews = time
            simulation.schedule(.news(index, view), at: time)
        }
        guard let deadline = nodes[index].engine.nextDeadline else { return }
        if let wakeAt = nodes[index].wakeAt, wakeAt <= deadline { return }
        nodes[index].wakeAt = deadline
        simulation.schedule(.engineWakes(index), at: nodes[index].clock.worldTime(of: deadline))
    }

    private mutating func wakeOutput(of node: Int, at time: WorldTime) {
        nodes[node].alarm += 1
        simulation.schedule(.outputWakes(node, alarm: nodes[node].alarm), at: time)
    }

    private mutating func output(_ index: Int) throws {
        let (plan, now) = (plan(of: index), hostTime(of: index))
        let map = nodes[index].arbiter.map
        let slice = now.advanced(byMicroseconds: 5_000)
        while true {
            let planned = nodes[index].planner.next(plan, on: map, at: now)
            guard let planned, planned.due <= now else {
                var wake = nodes[index].clock.worldTime(of: min(planned?.due ?? slice, slice))
                wake.microseconds += Int64.random(in: 0...150, using: &nodes[index].random)
                return wakeOutput(of: index, at: wake)
            }
            nodes[index].planner.sent(planned, at: now)
            trace.record("sends", node: index, [Int64(planned.message.wire.bytes)], at: self.now)
            if let fault = nodes[index].machine.take(
                planned.message, at: now.microseconds, on: map.line, plan.settings)
            {
                throw broken("node \(index): \(fault)")
            }
            if planned.message == .timingClock { try sentTick(index, planned.place, plan) }
        }
    }

    private mutating func sentTick(_ index: Int, _ place: TickPlace, _ plan: OutputPlan) throws {
        let tick = place.tick
        if let last = nodes[index].lastTick, tick != last + 1 {
            trace.record("breaks its train of ticks", node: index, [last, tick], at: now)
            nodes[index].breaks += 1
        }
        nodes[index].lastTick = tick
        guard nodes[index].machine.isPlaying else { return }
        let sixteenthsPerBar = plan.transport.ticksPerBar / 6
        let cycle = 16_384 / sixteenthsPerBar * sixteenthsPerBar * 6
        let isAtHome = (nodes[index].machine.songPosition - 1 - (tick - plan.transport.startTick)) % cycle == 0
        guard isAtHome else {
            throw broken("the machine of node \(index) is at \(nodes[index].machine.songPosition) ticks in its song")
        }
    }
}

extension GatewayWorld {
    /// Checks that the drum machines of a session stand on the same tick of the bar.
    ///
    /// - Parameters:
    ///   - members: gateways that play in one session with the same quantum.
    ///   - microseconds: how far their ticks may lie apart.
    /// - Throws: the promise they break.
    func expectAligned(_ members: [Int], within microseconds: Int64 = 400) throws {
        let places = members.map { node in
            let plan = plan(of: node)
            let ticks = line(of: node).position(at: hostTime(of: node)) - Double(plan.transport.startTick)
            let bar = Double(plan.transport.ticksPerBar)
            return (
                node, (ticks - (ticks / bar).rounded(.down) * bar) * Double(line(of: node).microsecondsPerBeat) / 24,
                bar
            )
        }
        for (node, place, bar) in places.dropFirst() {
            let length = bar * Double(line(of: node).microsecondsPerBeat) / 24
            let apart = abs(place - places[0].1)
            guard min(apart, length - apart) <= Double(microseconds) else {
                throw broken("nodes \(places[0].0) and \(node) are \(apart) us apart in the bar")
            }
        }
        for node in members where !nodes[node].machine.isPlaying {
            throw broken("the machine of node \(node) does not play")
        }
    }
}
