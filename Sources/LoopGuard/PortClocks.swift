internal import BeatTime
internal import MIDIClock

/// The clocks at one port, told apart by their position between our ticks.
struct PortClocks: Sendable {
    private var clocks: [HeardClock] = []
    /// The newest arrivals in microseconds, oldest first.
    private var recent: [Int64] = []
    /// Ticks since the start.
    private(set) var arrivals = 0

    /// Most clocks told apart.
    private static let most = 4
    /// Ticks of ours after which a silent clock is forgotten.
    private static let idleTicks: Int64 = 12
    /// Arrivals by which a clock in step with us has been noticed.
    private static let hearing = 12

    /// Adds an arrival to the clock it continues, or begins another, and tests it.
    mutating func append(_ time: HostTime, on map: TempoMap, probing blockLength: Int64?, _ question: LoopQuestion?) {
        arrivals += 1
        recent = recent.suffix(Self.hearing) + [time.microseconds]
        var best: (index: Int, arrival: HeardClock.Arrival, error: Double)?
        for (index, clock) in clocks.enumerated() {
            let tick = map.nearestTick(to: time.advanced(byMicroseconds: -roundedToInteger(clock.expected)))
            let distance = Double(map.time(ofTick: tick).microseconds(to: time))
            let error = abs(distance - clock.expected)
            let isNear = error < 0.3 * Double(map.line.tickLength) && error < best?.error ?? .infinity
            if tick > clock.last.tick, isNear { best = (index, (tick, distance), error) }
        }
        let nearest = map.nearestTick(to: time)
        if let best {
            clocks[best.index].append(best.arrival)
            clocks[best.index].probe(
                blockLength, question, amplitude: Double(max(1, Probe.amplitude(map.line))),
                isAlone: clocks.count(where: \.isInStep) < 2)
        } else if clocks.count < Self.most {
            clocks.append(HeardClock((nearest, Double(map.time(ofTick: nearest).microseconds(to: time)))))
        }
        let newest = best?.arrival.tick ?? nearest
        clocks.removeAll { $0.last.tick < newest - Self.idleTicks }
    }

    /// Counts drift from here.
    mutating func settle() { for index in clocks.indices { clocks[index].settle() } }

    /// Whether enough has arrived to tell what is in step.
    var isHeard: Bool { arrivals >= Self.hearing }
    /// Whether something may be in step with us, as far as is known.
    var mayBeInStep: Bool { clocks.contains(where: \.mayBeInStep) }
    private var inStep: [HeardClock] { clocks.filter(\.isInStep) }
    /// Whether something is in step with us.
    var isInStep: Bool { !inStep.isEmpty }
    /// Whether all that is in step comes less evenly than any cable or interface passes on our ticks.
    var isCoarse: Bool { isInStep && inStep.allSatisfy(\.isCoarse) }
    /// How many clocks have been in step long enough to be suspicious.
    var still: Int { inStep.count(where: \.isStill) }
    /// Whether the clocks run at another tempo.
    var hasDrifted: Bool { clocks.contains(where: \.hasDrifted) && !isInStep }
    /// Whether all clocks have drifted too far to be approaching our tempo.
    func hasLeft(_ line: TickLine) -> Bool {
        !clocks.isEmpty && clocks.allSatisfy { $0.distance > 0.3 * Double(line.tickLength) }
    }
    /// Whether a test has shown that a clock here is our own.
    var isOurs: Bool { clocks.contains { $0.test?.isOurs == true } }
    /// Whether tests have shown that no clock in step here is our own.
    var isForeign: Bool { isInStep && inStep.allSatisfy { $0.test?.isOurs == false } }
    /// The odds for a loop.
    var odds: Double { clocks.reduce(1) { max($0, $1.test?.odds ?? 1) } }

    /// Whether ticks come evenly, at a rate that is no whole multiple or fraction of ours.
    func hasOwnRate(beside line: TickLine) -> Bool {
        guard recent.count > Self.hearing, let first = recent.first, let last = recent.last else { return false }
        let mean = Double(last - first) / Double(recent.count - 1)
        let late = recent.indices.map { Double(recent[$0] - first) - mean * Double($0) }
        guard mean > 0, let least = late.min(), let most = late.max(), most - least < 0.4 * mean else { return false }
        let ratio = mean / Double(line.tickLength)
        let whole = max(ratio, 1 / ratio)
        return abs(whole - whole.rounded()) > 0.04 + (most - least) / Double(last - first)
    }
}
