package import BeatTime
package import LinkSession

/// Link engines with their own clocks on virtual networks, checked after every event.
///
/// After each event its node must keep these promises. Its beats do not jump unless it edited them itself. The timeline
/// of its session comes from an edit or from the founder, never from a join. It announces itself at most every 50 ms.
/// It asks to be woken in the future, not at once.
package struct LinkWorld {
    package let scenario: String
    package let seed: UInt64
    package private(set) var nodes: [Node] = []
    package var medium: LinkMedium
    package private(set) var trace = Trace()
    private var simulation = Simulation<Event>()
    private var random: SeededGenerator
    /// Every timeline announced for a session by its founder or an edit.
    private var published: [NodeID: [GhostTimeline]] = [:]

    package struct Node {
        package var engine: Engine
        package var clock: NodeClock
        /// Whether the machine is suspended: it hears nothing, and its clock stands still.
        package var isAsleep = false
        /// The scheduled wake-up; an earlier deadline schedules another one.
        package var wakeAt: HostTime?
        package var lastAlive: [IPAddress: HostTime] = [:]
    }

    private enum Event {
        case delivery(LinkMedium.Delivery)
        case wake(Int, at: HostTime)
        case action((inout LinkWorld) throws -> Void)
    }

    package init(
        _ scenario: String, seed: UInt64, conditions: LinkConditions = LinkConditions(), networkCount: Int = 1
    ) {
        self.scenario = scenario
        self.seed = seed
        random = SeededGenerator(seed: seed)
        let network = VirtualNetwork(conditions, random: random.split("network"))
        medium = LinkMedium(network: network, networkCount: networkCount)
    }

    package var now: WorldTime { simulation.now }
    package var eventCount: Int { simulation.eventCount }

    /// Adds a disabled node on network 0.
    ///
    /// - Parameters:
    ///   - tempo: its initial tempo.
    ///   - limit: largest error of its clock, in parts per million.
    ///   - skew: or the exact error.
    /// - Returns: its number.
    package mutating func addNode(tempo: Double = 120, skewUpTo limit: Int64 = 0, skew: Int64? = nil) -> Int {
        let index = nodes.count
        var own = random.split("node \(index)")
        var clock = NodeClock(skewUpTo: limit, using: &own)
        if let skew { clock.skew = skew }
        let engine = Engine(
            tempo: Tempo(beatsPerMinute: tempo), seed: own.next(), at: clock.hostTime(at: now))
        nodes.append(Node(engine: engine, clock: clock))
        medium.plug(index)
        return index
    }

    package func hostTime(of node: Int) -> HostTime { nodes[node].clock.hostTime(at: now) }

    package func state(of node: Int) -> SessionState { nodes[node].engine.sessionState }

    /// Schedules an action.
    package mutating func at(_ seconds: Double, _ action: @escaping (inout LinkWorld) throws -> Void) {
        simulation.schedule(.action(action), at: .seconds(seconds))
    }

    package mutating func run(until seconds: Double) throws {
        while let event = simulation.next(until: .seconds(seconds)) {
            switch event {
            case .delivery(let delivery):
                guard !nodes[delivery.node].isAsleep else { continue }
                trace.record("received", node: delivery.node, [Int64(delivery.bytes.count)], at: now)
                try touch(delivery.node) { engine, now in
                    engine.received(
                        delivery.bytes, from: delivery.source, on: delivery.interface, channel: delivery.channel,
                        at: now)
                }
            case .wake(let node, let time):
                // An earlier deadline was scheduled since, and has had its own wake-up.
                guard nodes[node].wakeAt == time, !nodes[node].isAsleep else { continue }
                nodes[node].wakeAt = nil
                trace.record("woke", node: node, at: now)
                try touch(node) { engine, now in
                    guard let deadline = engine.nextDeadline, deadline <= now else { return [] }
                    return engine.timePassed(to: now)
                }
            case .action(let action): try action(&self)
            }
        }
    }

    package mutating func enable(_ node: Int, on networks: [Int] = [0]) throws {
        trace.record("is enabled", node: node, at: now)
        try touch(node) { engine, now in engine.setEnabled(true, at: now) }
        for network in networks { try plug(node, into: network) }
    }

    package mutating func disable(_ node: Int) throws {
        trace.record("is disabled", node: node, at: now)
        try touch(node) { engine, now in engine.setEnabled(false, at: now) }
        nodes[node].lastAlive = [:]
    }

    /// Ends a node's program without a good-bye, as a crash does.
    package mutating func crash(_ node: Int) {
        trace.record("crashes", node: node, at: now)
        nodes[node].isAsleep = true
        nodes[node].wakeAt = nil
    }

    /// Starts a node's program anew, disabled and with another tempo.
    package mutating func restart(_ node: Int, tempo: Double) {
        trace.record("is started anew", node: node, at: now)
        let seed = random.next()
        nodes[node].engine = Engine(tempo: Tempo(beatsPerMinute: tempo), seed: seed, at: hostTime(of: node))
        nodes[node].engine.mayJustHaveLeft(at: hostTime(of: node))
        nodes[node].isAsleep = false
        (nodes[node].wakeAt, nodes[node].lastAlive) = (nil, [:])
    }

    package mutating func plug(_ node: Int, into network: Int) throws {
        medium.plug(node, into: network)
        trace.record("gets an interface", node: node, [Int64(network)], at: now)
        try touch(node) { engine, now in
            engine.interfaceAppeared(
                LinkMedium.address(of: node, on: network),
                measurementEndpoint: LinkMedium.measurementEndpoint(of: node, on: network), at: now)
        }
    }

    package mutating func unplug(_ node: Int, from network: Int) throws {
        medium.unplug(node, from: network)
        trace.record("loses an interface", node: node, [Int64(network)], at: now)
        try touch(node) { engine, now in
            engine.interfaceVanished(LinkMedium.address(of: node, on: network), at: now)
        }
    }

    /// Suspends a node's machine for a time; others continue.
    package mutating func sleep(_ node: Int, forSeconds seconds: Double) throws {
        trace.record("falls asleep", node: node, at: now)
        nodes[node].isAsleep = true
        try run(until: Double(now.microseconds) / 1e6 + seconds)
        nodes[node].isAsleep = false
        nodes[node].wakeAt = nil
        nodes[node].clock.offset -= Int64(seconds * 1e6)
        trace.record("resumes", node: node, at: now)
        try touch(node) { engine, now in engine.resumed(at: now) }
    }

    package mutating func setStartStopSync(_ isEnabled: Bool, at node: Int) {
        nodes[node].engine.setStartStopSync(isEnabled)
    }

    package mutating func edit(_ node: Int, _ body: (inout SessionState, HostTime) -> Void) throws {
        trace.record("edits", node: node, at: now)
        try touch(node, isEdit: true) { engine, now in try engine.edit(at: now) { body(&$0, now) } }
    }

    package mutating func commit(_ state: SessionState, at node: Int) throws {
        trace.record("commits", node: node, at: now)
        try touch(node, isEdit: true) { engine, now in try engine.commit(state, at: now) }
    }

    package func broken(_ promise: String) -> BrokenPromise {
        BrokenPromise(promise, scenario: scenario, seed: seed, time: now, trace: trace)
    }

    private mutating func touch(
        _ index: Int, isEdit: Bool = false, _ body: (inout Engine, HostTime) throws -> [Datagram]
    ) throws {
        let now = hostTime(of: index)
        let before = nodes[index].engine.sessionState.timeline.beats(at: now)
        let nodeID = nodes[index].engine.nodeID
        let datagrams = try body(&nodes[index].engine, now)
        let engine = nodes[index].engine
        guard isEdit || engine.sessionState.timeline.beats(at: now) == before else {
            throw broken("beats of node \(index) jump from \(before.value)")
        }
        if let announced = engine.announcement(at: now) {
            if isEdit || engine.nodeID != nodeID {
                published[announced.session, default: []].append(announced.timeline)
            }
            guard published[announced.session, default: []].contains(announced.timeline) else {
                throw broken("node \(index) follows a timeline that nobody in its session has made")
            }
        }
        try send(datagrams, of: index, at: now)
        try scheduleWake(of: index, at: now)
    }

    private mutating func send(_ datagrams: [Datagram], of index: Int, at now: HostTime) throws {
        for datagram in datagrams {
            trace.record("sends", node: index, datagram.bytes.map(Int64.init), at: self.now)
            if datagram.destination == .group, datagram.bytes.count > 20 {
                let last = nodes[index].lastAlive.updateValue(now, forKey: datagram.interface)
                if let last, last.microseconds(to: now) < 50_000, last.microseconds(to: now) >= 0 {
                    throw broken("node \(index) announces itself \(last.microseconds(to: now)) us after the last time")
                }
            }
            for arrival in medium.carry(datagram, from: index, at: self.now) {
                simulation.schedule(.delivery(arrival.delivery), at: arrival.time)
            }
        }
    }

    private mutating func scheduleWake(of index: Int, at now: HostTime) throws {
        guard let deadline = nodes[index].engine.nextDeadline else { return }
        if let wakeAt = nodes[index].wakeAt, wakeAt <= deadline { return }
        nodes[index].wakeAt = deadline
        simulation.schedule(.wake(index, at: deadline), at: nodes[index].clock.worldTime(of: deadline))
    }
}

extension LinkWorld {
    /// Largest distance between the nodes' grids at this moment, in microseconds.
    package func spreadOfGrids(_ members: [Int]) -> Int64 {
        let sinceOrigin = members.map { member in
            nodes[member].engine.sessionState.timeline.timeOrigin.microseconds(to: hostTime(of: member))
        }
        return (sinceOrigin.max() ?? 0) - (sinceOrigin.min() ?? 0)
    }

    /// Checks that nodes form one session: one ID, one timeline, one grid, and each counts all others.
    ///
    /// - Parameters:
    ///   - members: all nodes of the session.
    ///   - microseconds: allowed distance of their grids.
    /// - Throws: the promise that is broken.
    package func expectTogether(_ members: [Int], within microseconds: Int64 = 200) throws {
        guard let first = members.first else { return }
        for member in members {
            let (engine, other) = (nodes[member].engine, nodes[first].engine)
            guard engine.sessionID == other.sessionID else {
                throw broken("nodes \(first) and \(member) are in different sessions")
            }
            guard engine.peerCount == members.count - 1 else {
                throw broken("node \(member) counts \(engine.peerCount) peers, not \(members.count - 1)")
            }
            let announced = engine.announcement(at: hostTime(of: member))?.timeline
            guard announced == other.announcement(at: hostTime(of: first))?.timeline else {
                throw broken("nodes \(first) and \(member) have different timelines")
            }
        }
        let apart = spreadOfGrids(members)
        guard apart <= microseconds else { throw broken("grids lie \(apart) us apart") }
    }
}
