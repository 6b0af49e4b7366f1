import BeatTime
import LoopGuard
import MIDIClock
import Simulation

/// A path that ticks take, with its delays.
struct Way {
    /// Smallest delay of a tick, in microseconds.
    var delay: Int64 = 500
    var jitter = Jitter.gaussian(20)

    enum Jitter: Hashable {
        /// Standard deviation in microseconds.
        case gaussian(Double)
        /// Late by zero to this many microseconds.
        case uniform(Double)

        func draw(_ random: inout SeededGenerator) -> Double {
            switch self {
            case .gaussian(let deviation):
                deviation * (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &random) }
            case .uniform(let width): Double.random(in: 0..<width, using: &random)
            }
        }
    }
}

/// A follower as other programs have it: the straight line of least squares through the last two beats of ticks.
struct AveragingFollower {
    private var ticks: [(number: Int64, time: HostTime)] = []
    private var next: Int64 = 0

    mutating func received(at time: HostTime) {
        if ticks.count == 48 { ticks.removeFirst() }
        ticks.append((next, time))
        next += 1
    }

    var line: TickLine? {
        guard ticks.count == 48, let newest = ticks.last else { return nil }
        var sums = TickSums()
        for tick in ticks {
            sums.add(Double(tick.number - newest.number), Double(newest.time.microseconds(to: tick.time)))
        }
        let (slope, intercept) = sums.line
        return TickLine(
            microsecondsPerBeat: roundedToInteger(24 * slope),
            timeOrigin: newest.time.advanced(byMicroseconds: roundedToInteger(intercept)), tickOrigin: newest.number)
    }
}

/// A gateway that follows one clock and sends another: ours, without its guard, or that of another program.
struct ClockedGateway {
    var map: TempoMap
    var planner = TickPlanner()
    var plan = OutputPlan(transport: .stopped, settings: OutputSettings())
    var follower = ClockFollower()
    /// Another program's follower.
    private var foreign: AveragingFollower?
    /// Added to the leader's tick numbers, once it is followed.
    private var shift: Int64?

    init(beatsPerMinute: Double, origin: Int64 = 0, isForeign: Bool = false) {
        foreign = isForeign ? AveragingFollower() : nil
        map = TempoMap(
            TickLine(
                microsecondsPerBeat: Tempo(beatsPerMinute: beatsPerMinute).microsecondsPerBeat,
                timeOrigin: HostTime(microseconds: origin), tickOrigin: 0))
    }

    /// Processes a tick of the leader, and follows it.
    mutating func follow(at time: HostTime) {
        follower.received(.timingClock, at: time)
        foreign?.received(at: time)
        let found = foreign == nil ? follower.estimate?.line : foreign?.line
        guard var line = found, shift != nil || follower.state == .locked else { return }
        if shift == nil { shift = map.nearestTick(to: line.timeOrigin) - line.tickOrigin }
        line.tickOrigin += shift ?? 0
        map.slew(byMicroseconds: map.time(ofTick: line.tickOrigin).microseconds(to: line.timeOrigin))
        if line.microsecondsPerBeat != map.line.microsecondsPerBeat { map.changeTempo(to: line, at: time) }
        map.restate(line)
    }

    mutating func stopFollowing() { shift = nil }
}

/// Our gateway with its loop guard, clock sources, and paths from outputs to them, in virtual time.
struct LoopWorld {
    enum Event {
        case output(slot: Int)
        case tick(from: ClockSource)
        case otherInput
        case otherOutput
        case leader(index: Int, next: Int)
    }

    static let port = ClockSource.port(client: 24, port: 0)

    var ours: ClockedGateway
    var planners: [TickPlanner]
    var settings: [OutputSettings]
    /// How much faster somebody holds each output, in millionths.
    var bends: [Int64]
    var loopGuard: LoopGuard
    var sim = Simulation<Event>()
    var random: SeededGenerator
    /// Paths from an output directly to a source.
    var loops: [(slot: Int, way: Way, source: ClockSource)] = []
    /// A gateway that follows one of our outputs, with its path to a source.
    var other: ClockedGateway?
    var otherFollows = true
    var wayToOther: (slot: Int, way: Way)?
    var wayFromOther: (way: Way, source: ClockSource)?
    var leaders: [(arrivals: [HostTime], source: ClockSource)] = []
    /// The source that our gateway should follow once it is clear.
    var wanted: ClockSource?
    private(set) var followed: ClockSource?
    private(set) var lastOf: [String: Int64] = [:]
    /// The largest distance of a tick from where the map says, at each output, in microseconds.
    private(set) var displaced: [Int64]
    /// Whether a source was ever considered clear.
    private(set) var wasEverClear = false
    /// Whether a source was ever excluded.
    private(set) var wasEverFenced = false

    init(beatsPerMinute: Double = 120, outputs: Int = 1, seed: UInt64) {
        ours = ClockedGateway(beatsPerMinute: beatsPerMinute)
        planners = Array(repeating: TickPlanner(), count: outputs)
        settings = Array(repeating: OutputSettings(), count: outputs)
        bends = Array(repeating: 0, count: outputs)
        displaced = Array(repeating: 0, count: outputs)
        loopGuard = LoopGuard(seed: seed)
        random = SeededGenerator(seed: seed)
        for slot in 0..<outputs { sim.schedule(.output(slot: slot), at: WorldTime(microseconds: 0)) }
    }

    mutating func add(_ arrivals: [HostTime], from source: ClockSource) {
        leaders.append((arrivals, source))
        guard let first = arrivals.first else { return }
        sim.schedule(
            .leader(index: leaders.count - 1, next: 0), at: WorldTime(microseconds: first.microseconds))
    }

    mutating func addLeader(
        beatsPerMinute: Double, start: Double, jitter: LeaderClock.Jitter, count: Int = 4_000, seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed).split("leader")
        let leader = LeaderClock(count: count, start: start, jitter: jitter, random: &random) { _ in beatsPerMinute }
        add(leader.arrivals.map(\.time), from: Self.port)
    }

    /// Stops following, as when the leader has fallen silent.
    mutating func loseLeader() {
        followed = nil
        ours.stopFollowing()
        ours.follower.timePassed(to: now)
    }

    /// Runs until the port is excluded.
    ///
    /// - Returns: the number of our ticks it took.
    mutating func ticksUntilFenced(within ticks: Double) -> Double? {
        let length = Double(ours.map.line.microsecondsPerBeat) / 24
        let time = run(until: Int64(ticks * length)) { $0.loopGuard.verdict(of: Self.port).isExcluded }
        return time.map { Double($0) / length }
    }

    mutating func addOther(_ gateway: ClockedGateway) {
        other = gateway
        sim.schedule(.otherOutput, at: sim.now)
    }

    var now: HostTime { HostTime(microseconds: sim.now.microseconds) }

    /// Runs until a time in microseconds, or until a condition is true.
    ///
    /// - Returns: when the condition became true.
    mutating func run(until end: Int64, or condition: (LoopWorld) -> Bool = { _ in false }) -> Int64? {
        while let event = sim.next(until: WorldTime(microseconds: end)) {
            take(event)
            if condition(self) { return sim.now.microseconds }
        }
        return nil
    }

    private mutating func take(_ event: Event) {
        switch event {
        case .output(let slot): turn(slot)
        case .tick(let source): tick(from: source)
        case .otherInput:
            let time = now
            if otherFollows { other?.follow(at: time) }
        case .otherOutput: otherTurn()
        case .leader(let index, let next):
            tick(from: leaders[index].source)
            guard next + 1 < leaders[index].arrivals.count else { return }
            sim.schedule(
                .leader(index: index, next: next + 1),
                at: WorldTime(microseconds: leaders[index].arrivals[next + 1].microseconds))
        }
    }

    private mutating func tick(from source: ClockSource) {
        loopGuard.received(from: source, at: now, on: ours.map, isFollowed: source == followed)
        let verdict = loopGuard.verdict(of: source)
        wasEverClear = wasEverClear || verdict == .clear
        wasEverFenced = wasEverFenced || verdict.isExcluded
        if source == followed, verdict.mustBeLeft {
            followed = nil
            if verdict.isExcluded { wanted = nil }
            ours.stopFollowing()
        }
        guard source == wanted else { return }
        if followed == nil, verdict.mayBeFollowed { followed = source }
        if followed == source { ours.follow(at: now) } else { ours.follower.received(.timingClock, at: now) }
    }

    private mutating func turn(_ slot: Int) {
        var plan = OutputPlan(transport: .stopped, settings: settings[slot], bend: bends[slot])
        if let probing = loopGuard.probing, probing.slots >> UInt64(slot) & 1 == 1 { plan.probe = probing.probe }
        guard let planned = planners[slot].next(plan, on: ours.map, at: now) else { return }
        guard planned.due <= now else {
            let wake = min(planned.due.microseconds, sim.now.microseconds + 4_000)
            sim.schedule(.output(slot: slot), at: WorldTime(microseconds: wake))
            return
        }
        planners[slot].sent(planned, at: now)
        sim.schedule(.output(slot: slot), at: sim.now)
        let place = ours.map.time(of: planned.place).advanced(byMicroseconds: settings[slot].offset)
        displaced[slot] = max(displaced[slot], abs(place.microseconds(to: planned.due)))
        for loop in loops where loop.slot == slot {
            sim.schedule(.tick(from: loop.source), at: arrival(loop.way, "loop \(slot)"))
        }
        if let wayToOther, wayToOther.slot == slot {
            sim.schedule(.otherInput, at: arrival(wayToOther.way, "to other"))
        }
    }

    private mutating func otherTurn() {
        guard var gateway = other else { return }
        defer { other = gateway }
        guard let planned = gateway.planner.next(gateway.plan, on: gateway.map, at: now) else { return }
        guard planned.due <= now else {
            let wake = min(planned.due.microseconds, sim.now.microseconds + 4_000)
            sim.schedule(.otherOutput, at: WorldTime(microseconds: wake))
            return
        }
        gateway.planner.sent(planned, at: now)
        sim.schedule(.otherOutput, at: sim.now)
        guard let wayFromOther else { return }
        sim.schedule(.tick(from: wayFromOther.source), at: arrival(wayFromOther.way, "from other"))
    }

    /// When a tick sent now arrives; ticks never overtake each other.
    private mutating func arrival(_ way: Way, _ name: String) -> WorldTime {
        let late = Double(way.delay) + way.jitter.draw(&random)
        let time = max(sim.now.microseconds + max(50, roundedToInteger(late)), (lastOf[name] ?? 0) + 320)
        lastOf[name] = time
        return WorldTime(microseconds: time)
    }
}
