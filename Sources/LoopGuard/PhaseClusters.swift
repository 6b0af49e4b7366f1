internal import BeatTime
internal import MIDIClock

/// The clocks at one port, told apart by their position between our ticks.
struct PhaseClusters: Sendable {
    private var histories: [PhaseHistory] = []
    /// Ticks since the start.
    private(set) var arrivals = 0
    /// The newest arrivals in microseconds, oldest first.
    private var recent: [Int64] = []

    /// Most clocks told apart.
    private static let mostClocks = 4
    /// Ticks of ours after which a silent clock is forgotten.
    private static let idleTicks: Int64 = 12
    /// Arrivals by which a clock in step with us has been noticed.
    private static let hearing = 12

    mutating func removeAll() {
        histories.removeAll()
        recent.removeAll()
        arrivals = 0
    }

    /// Adds an arrival to the clock it continues, or begins another.
    mutating func append(_ time: HostTime, on map: TempoMap, _ question: LoopQuestion?, prior: Double) {
        arrivals += 1
        recent.append(time.microseconds)
        if recent.count > Self.hearing + 1 { recent.removeFirst() }
        var best: (index: Int, arrival: Residuals.Arrival, error: Double)?
        for index in histories.indices {
            let arrival = Self.arrival(time, near: histories[index].expected, map)
            let error = abs(arrival.distance - histories[index].expected)
            let isNear = error < 0.3 * Double(map.line.tickLength) && error < best?.error ?? .infinity
            if arrival.tick > histories[index].lastTick, isNear { best = (index, arrival, error) }
        }
        let newest = best?.arrival.tick ?? map.nearestTick(to: time)
        if let best {
            histories[best.index].begin(question, prior: prior)
            histories[best.index].append(best.arrival)
            histories[best.index].judge(
                best.arrival, amplitude: Double(max(1, Probe.amplitude(map.line))),
                isAlone: histories.count(where: \.isInStep) < 2)
        } else if histories.count < Self.mostClocks {
            var history = PhaseHistory(Self.arrival(time, near: 0, map))
            history.begin(question, prior: prior)
            histories.append(history)
        }
        histories.removeAll { $0.lastTick < newest &- Self.idleTicks }
    }

    private static func arrival(_ time: HostTime, near phase: Double, _ map: TempoMap) -> Residuals.Arrival {
        let tick = map.nearestTick(to: time.advanced(byMicroseconds: -roundedToInteger(phase)))
        return Residuals.Arrival(tick: tick, distance: Double(map.time(ofTick: tick).microseconds(to: time)))
    }

    /// Counts drift from here.
    mutating func settle() {
        for index in histories.indices { histories[index].settle() }
    }

    /// Whether enough has arrived to tell what is in step.
    var isHeard: Bool { arrivals >= Self.hearing }

    /// Whether something may be in step with us, as far as is known.
    var mayBeInStep: Bool { histories.contains(where: \.mayBeInStep) }

    /// Whether something is in step with us.
    var isInStep: Bool { histories.contains(where: \.isInStep) }

    /// Whether ticks come evenly, at a rate that is no whole multiple or fraction of ours.
    func isForeign(to line: TickLine) -> Bool {
        guard recent.count > Self.hearing, let first = recent.first, let last = recent.last else { return false }
        let mean = Double(last &- first) / Double(recent.count - 1)
        let late = recent.indices.map { Double(recent[$0] &- first) - mean * Double($0) }
        guard mean > 0, let least = late.min(), let most = late.max(), most - least < 0.4 * mean else { return false }
        let ratio = mean / Double(line.tickLength)
        let whole = max(ratio, 1 / ratio)
        return abs(whole - whole.rounded()) > 0.04 + (most - least) / Double(last &- first)
    }

    /// Whether all that is in step comes less evenly than any cable or interface passes on our ticks.
    var isCoarse: Bool { isInStep && histories.allSatisfy { !$0.isInStep || $0.isCoarse } }

    /// Whether all clocks have drifted too far to be approaching our tempo.
    func hasLeft(_ line: TickLine) -> Bool {
        !histories.isEmpty && histories.allSatisfy { $0.distance > 0.3 * Double(line.tickLength) }
    }

    /// Whether a clock has been in step long enough to be suspicious.
    var isStill: Bool { histories.contains { $0.isInStep && $0.isStill } }

    /// Whether the clocks run at another tempo.
    var hasDrifted: Bool { histories.contains(where: \.hasDrifted) && !isInStep }

    /// Whether more than one clock is in step.
    var isDoubled: Bool { histories.count { $0.isInStep && $0.isStill } > 1 }

    /// Why a clock here is our own; nil unless a test found that.
    var loop: LoopReason? {
        for history in histories {
            if let loop = history.loop { return loop }
        }
        return nil
    }

    /// Whether a probe, slow or not, has shown that no clock in step here is our own.
    func isExcluded(bySlowProbe isSlow: Bool) -> Bool {
        isInStep && histories.allSatisfy { !$0.isInStep || $0.isExcluded(bySlowProbe: isSlow) }
    }

    /// The odds for a loop.
    var evidence: Double { histories.reduce(1) { max($0, $1.evidence) } }
}
