import ALSASequencer
import Arbiter
import BeatTime
import ClockDispatch
import GatewayStatus
import LinkNetwork
import LinkSession
import MIDIClock
import Simulation

@testable import Gateway

/// Whole gateways in virtual time, each with its own clock, on a network that delays and loses datagrams.
///
/// Each thread is simulated by events: a request to another thread arrives a little later, and each thread wakes a
/// little late.
struct GatewayWorld {
    let scenario: String
    let seed: UInt64
    private(set) var nodes: [VirtualGateway] = []
    var medium: LinkMedium
    private(set) var trace = Trace()
    /// The newest leader of each gateway: the exact times of its ticks, and the number of the song's first tick.
    var leaders: [Int: (truth: [WorldTime], top: Int?)] = [:]
    /// How many clocks of leaders have been scheduled, and which of them was the last to begin, at each gateway and port.
    var leaderRuns = 0
    var newestRuns: [Int: [ClockSource: Int]] = [:]
    private var simulation = Simulation<Event>()
    private var random: SeededGenerator
    private var threads: [Threads] = []

    /// What the threads of one gateway will do next.
    private struct Threads {
        var linkWakesAt: HostTime?
        var linkTouchedAt: HostTime?
        var gatewayWakesAt: HostTime?
        /// When the last request to the Link thread arrives; the next one must arrive later.
        var lastRequest = WorldTime.seconds(0)
        /// When the last event from the Link thread arrives; the next one must arrive later.
        var lastLinkEvent = WorldTime.seconds(0)
        /// When the last message of a clock arrives; the next one must not overtake it.
        var lastHeard = WorldTime.seconds(0)
        /// Whether the gateway thread is about to read the sequencer's announcements.
        var isAnnounced = false
        /// How often the gateway thread has woken because of a deadline, and since when that is counted.
        var (wakeUps, wakeUpsSince) = (0, WorldTime.seconds(0))
        /// The number of the output thread's newest alarm.
        var clockAlarm = 0
        /// How often the gateway was killed.
        var run = 0
    }

    private enum Event {
        case datagram(LinkMedium.Delivery)
        case linkWakes(Int, HostTime)
        /// From a thread of this gateway's run of that number.
        case request(Int, LinkRequest, run: Int)
        case gateway(Int, GatewayEvent, run: Int)
        case gatewayWakes(Int, HostTime)
        case announcements(Int)
        /// Ignored unless `alarm` is still the newest.
        case clockWakes(Int, alarm: Int)
        case action((inout GatewayWorld) throws -> Void)
    }

    init(_ scenario: String, seed: UInt64, conditions: LinkConditions = LinkConditions()) {
        self.scenario = scenario
        self.seed = seed
        random = SeededGenerator(seed: seed)
        medium = LinkMedium(network: VirtualNetwork(conditions, random: random.split("network")))
    }

    var now: WorldTime { simulation.now }

    func hostTime(of node: Int) -> HostTime { nodes[node].clock.hostTime(at: now) }

    /// Adds a gateway and starts it.
    ///
    /// - Returns: its number, which the other methods take.
    mutating func addGateway(_ configuration: GatewayConfiguration, kept: KeptState = KeptState()) -> Int {
        let index = nodes.count
        var own = random.split("node \(index)")
        let clock = NodeClock(skewUpTo: 30, using: &own)
        nodes.append(VirtualGateway(configuration, kept: kept, clock: clock, random: own, at: now))
        threads.append(Threads())
        medium.plug(index)
        take(.started, at: index)
        return index
    }

    /// Kills a gateway, and starts it again with what it has saved.
    ///
    /// - Parameters:
    ///   - node: the gateway.
    ///   - live: the configuration that it reads at the start.
    mutating func kill(_ node: Int, _ live: LiveConfiguration) {
        nodes[node] = nodes[node].killed(live, at: now)
        let before = threads[node]
        threads[node] = Threads()
        (threads[node].run, threads[node].clockAlarm) = (before.run + 1, before.clockAlarm + 1)
        threads[node].isAnnounced = before.isAnnounced
        take(.started, at: node)
    }

    /// Schedules an action at a time in seconds since the world began.
    mutating func at(_ seconds: Double, _ action: @escaping (inout GatewayWorld) throws -> Void) {
        simulation.schedule(.action(action), at: .seconds(seconds))
    }

    /// Performs all events until the given time.
    ///
    /// - Parameter seconds: the end, in seconds since the world began.
    /// - Throws: the first broken promise.
    mutating func run(until seconds: Double) throws {
        for node in nodes.indices { noteAnnouncements(of: node) }
        while let event = simulation.next(until: .seconds(seconds)) {
            try perform(event)
            if let promise = nodes.lazy.compactMap(\.broken.first).first { throw broken(promise) }
        }
    }

    private mutating func perform(_ event: Event) throws {
        switch event {
        case .datagram(let datagram):
            touch(datagram.node) { engine, now in
                engine.received(
                    datagram.bytes, from: datagram.source, on: datagram.interface, channel: datagram.channel, at: now)
            }
        case .linkWakes(let node, let time):
            guard threads[node].linkWakesAt == time else { return }
            threads[node].linkWakesAt = nil
            touch(node) { engine, now in engine.timePassed(to: now) }
        case .request(let node, let request, let run): if run == threads[node].run { perform(request, at: node) }
        case .gateway(let node, let event, let run): if run == threads[node].run { take(event, at: node) }
        case .gatewayWakes(let node, let time):
            guard threads[node].gatewayWakesAt == time else { return }
            threads[node].gatewayWakesAt = nil
            noteWakeUp(of: node)
            settle(node)
        case .announcements(let node):
            threads[node].isAnnounced = false
            take(.ports(nodes[node].sequencer.read()), at: node)
        case .clockWakes(let node, let alarm): if alarm == threads[node].clockAlarm { runClock(node) }
        case .action(let action):
            try action(&self)
            for node in nodes.indices { noteAnnouncements(of: node) }
        }
    }

    /// A broken promise, with the scenario, seed, time and trace that led to it.
    func broken(_ promise: String) -> BrokenPromise {
        BrokenPromise(promise, scenario: scenario, seed: seed, time: now, trace: trace)
    }

    private mutating func later(_ range: ClosedRange<Int64>, at node: Int) -> WorldTime {
        now.advanced(byMicroseconds: .random(in: range, using: &nodes[node].random))
    }

    // The gateway thread.

    /// Gives a command.
    @discardableResult
    mutating func command(_ command: Command, at node: Int) -> ReplyToken {
        trace.record("commands", node: node, at: now)
        let token = nodes[node].command(command, at: hostTime(of: node))
        settle(node)
        return token
    }

    /// Gives an event to a gateway's thread.
    mutating func take(_ event: GatewayEvent, at node: Int) {
        nodes[node].take(event, at: hostTime(of: node))
        settle(node)
    }

    /// Gives a gateway what buttons and pedals send.
    mutating func press(_ arrivals: [ControlArrival], at node: Int) {
        nodes[node].press(arrivals, at: hostTime(of: node))
        settle(node)
    }

    /// Sends a clock message to a gateway now; it arrives a little later.
    mutating func hear(_ message: ClockMessage, from source: ClockSource, at node: Int) {
        trace.record("hears", node: node, [Int64(message.wire.bytes)], at: now)
        let arrival = ClockArrival(message, at: hostTime(of: node), from: source)
        let event = GatewayEvent.clocks([.arrival(arrival)])
        threads[node].lastHeard = max(later(20...400, at: node), threads[node].lastHeard)
        simulation.schedule(.gateway(node, event, run: threads[node].run), at: threads[node].lastHeard)
    }

    /// Ends a turn of the gateway thread and schedules what it has asked other threads to do.
    private mutating func settle(_ node: Int) {
        let now = hostTime(of: node)
        let (report, watchedAt) = (nodes[node].outputThread.report(), nodes[node].watchedAt)
        nodes[node].take(.turn(report, watchedAt: watchedAt), at: now)
        for request in nodes[node].linkRequests {
            let time = max(later(20...400, at: node), threads[node].lastRequest.advanced(byMicroseconds: 1))
            threads[node].lastRequest = time
            simulation.schedule(.request(node, request, run: threads[node].run), at: time)
        }
        nodes[node].linkRequests = []
        // A new board wakes the output thread.
        if nodes[node].isBoardNew { wakeClock(of: node, at: later(5...150, at: node)) }
        nodes[node].isBoardNew = false
        noteAnnouncements(of: node)
        guard let deadline = nodes[node].engine.nextDeadline(after: now) else { return }
        let time = max(deadline, now.advanced(byMicroseconds: 500))
        if let known = threads[node].gatewayWakesAt, known > now, known <= time { return }
        threads[node].gatewayWakesAt = time
        simulation.schedule(.gatewayWakes(node, time), at: nodes[node].clock.worldTime(of: time))
    }

    /// Counts how often the gateway thread wakes because of a deadline.
    private mutating func noteWakeUp(of node: Int) {
        if now.microseconds - threads[node].wakeUpsSince.microseconds > 1_000_000 {
            (threads[node].wakeUpsSince, threads[node].wakeUps) = (now, 0)
        }
        threads[node].wakeUps += 1
        if threads[node].wakeUps == 200 { nodes[node].fail("the gateway thread wakes 200 times a second") }
    }

    /// Schedules reading the sequencer's announcements, if there are any.
    private mutating func noteAnnouncements(of node: Int) {
        guard nodes[node].sequencer.hasAnnouncement, !threads[node].isAnnounced else { return }
        threads[node].isAnnounced = true
        simulation.schedule(.announcements(node), at: later(20...200, at: node))
    }

    // The Link thread.

    private mutating func perform(_ request: LinkRequest, at node: Int) {
        var token: ReplyToken?
        switch request {
        case .edit(let edit, let waiting):
            if case .goOn = edit, nodes[node].link.isEnabled { nodes[node].fail("a leader's beat reaches the session") }
            var refusal: EditRefusal?
            touch(node) { engine, now in
                do throws(EditRefusal) {
                    return try engine.edit(at: now) { edit.apply(to: &$0, at: now) }
                } catch {
                    refusal = error
                    return []
                }
            }
            if let refusal { return post(.refused(refusal, waiting), from: node) }
            token = waiting
        case .setEnabled(let isOn, let waiting):
            touch(node) { engine, now in engine.setEnabled(isOn, at: now) }
            joinNetworks(node)
            token = waiting
        case .setStartStopSync(let isOn, let waiting):
            touch(node) { engine, _ in
                engine.setStartStopSync(isOn)
                return []
            }
            token = waiting
        case .setActive(let isActive):
            touch(node) { engine, now in engine.setActive(isActive, at: now) }
            joinNetworks(node)
        }
        if let token { nodes[node].linkHasDone(token) }
        nodes[node].check()
        if let token { post(.done(token), from: node) }
    }

    private mutating func joinNetworks(_ node: Int) {
        guard nodes[node].link.isNetworking else { return }
        touch(node) { engine, now in
            engine.interfaceAppeared(
                LinkMedium.address(of: node), measurementEndpoint: LinkMedium.measurementEndpoint(of: node), at: now)
        }
    }

    /// Runs `body` on a gateway's Link engine, sends its datagrams and reports a changed state to the gateway thread.
    private mutating func touch(_ node: Int, _ body: (inout Engine, HostTime) -> [Datagram]) {
        // The error of a measured clock grows meanwhile.
        let before = LinkState(nodes[node].link, at: threads[node].linkTouchedAt ?? hostTime(of: node))
        threads[node].linkTouchedAt = hostTime(of: node)
        for datagram in body(&nodes[node].link, hostTime(of: node)) {
            for arrival in medium.carry(datagram, from: node, at: now) {
                simulation.schedule(.datagram(arrival.delivery), at: arrival.time)
            }
        }
        let state = LinkState(nodes[node].link, at: hostTime(of: node))
        nodes[node].linkHasTempo(state.sessionState.tempo)
        if state != before { post(.link(state), from: node) }
        guard let deadline = nodes[node].link.nextDeadline else { return }
        if let wakeAt = threads[node].linkWakesAt, wakeAt <= deadline { return }
        threads[node].linkWakesAt = deadline
        simulation.schedule(.linkWakes(node, deadline), at: nodes[node].clock.worldTime(of: deadline))
    }

    private mutating func post(_ event: GatewayEvent, from node: Int) {
        let time = max(later(20...400, at: node), threads[node].lastLinkEvent.advanced(byMicroseconds: 1))
        threads[node].lastLinkEvent = time
        simulation.schedule(.gateway(node, event, run: threads[node].run), at: time)
    }

    // The output thread.

    private mutating func wakeClock(of node: Int, at time: WorldTime) {
        threads[node].clockAlarm += 1
        simulation.schedule(.clockWakes(node, alarm: threads[node].clockAlarm), at: time)
    }

    private mutating func runClock(_ node: Int) {
        guard !nodes[node].isOutputThreadStuck else {
            nodes[node].runQueue(at: hostTime(of: node))
            return wakeClock(of: node, at: now.advanced(byMicroseconds: 1_000))
        }
        var wakeAt = nodes[node].clock.worldTime(of: nodes[node].runClock(at: hostTime(of: node)))
        trace.record("sends", node: node, at: now)
        wakeAt.microseconds += .random(in: 0...150, using: &nodes[node].random)
        wakeClock(of: node, at: wakeAt)
    }
}
