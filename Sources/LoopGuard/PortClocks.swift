internal import BeatTime
internal import MIDIClock

/// The clocks at one port, told apart by their position between our ticks.
struct PortClocks: Sendable {
    private var clocks: [HeardClock] = []
    /// The newest arrivals in microseconds, oldest first.
    private var recent: [Int64] = []
    /// Ticks since the start.
    private(set) var arrivals = 0

    /// Arrivals by which a clock in step with us has been noticed.
    private static let hearing = 12

    /// Adds an arrival to the clock it continues, or begins another of at most four, and tests it.
    mutating func append(_ time: HostTime, on map: TempoMap, probing blockLength: Int64?, _ question: LoopQuestion?) {
        arrivals += 1
        recent = recent.suffix(Self.hearing) + [time.microseconds]
        func arrival(near phase: Double) -> HeardClock.Arrival {
            let tick = map.nearestTick(to: time.advanced(byMicroseconds: -roundedToInteger(phase)))
            return (tick, Double(map.time(ofTick: tick).microseconds(to: time)))
        }
        var newest = arrival(near: 0)
        var best: (index: Int, error: Double)?
        for (index, clock) in clocks.enumerated() {
            let arrival = arrival(near: clock.expected)
            let error = abs(arrival.distance - clock.expected)
            let isNear = error < best?.error ?? 0.3 * Double(map.line.tickLength)
            if isNear, arrival.tick > clock.last.tick { (best, newest) = ((index, error), arrival) }
        }
        if let best {
            clocks[best.index].append(newest)
            clocks[best.index].probe(
                blockLength, question, amplitude: Double(max(1, Probe.amplitude(map.line))), isAlone: inStep.count < 2)
        } else if clocks.count < 4 {
            clocks.append(HeardClock(newest))
        }
        clocks.removeAll { $0.last.tick < newest.tick &- Int64(Self.hearing) }
    }

    /// Counts drift from here.
    mutating func restartDrift() { for index in clocks.indices { clocks[index].restartDrift() } }

    private var inStep: [HeardClock] { clocks.filter(\.isInStep) }
    /// Whether enough has arrived to tell what is in step.
    var isHeard: Bool { arrivals >= Self.hearing }
    /// Whether something may be in step with us, as far as is known.
    var isInStep: Bool { !inStep.isEmpty }
    /// Whether the clocks run at another tempo.
    var hasDrifted: Bool { !isInStep && clocks.contains { $0.count >= 8 } }
    /// Whether all that is in step comes less evenly than any cable or interface passes on our ticks.
    var isCoarse: Bool { isInStep && inStep.allSatisfy(\.isCoarse) }
    /// How many clocks have been in step long enough to be suspicious.
    var still: Int { inStep.count { $0.count >= 48 } }
    /// Whether a test has shown that a clock here is our own.
    var isOurs: Bool { clocks.contains { $0.test?.isOurs == true } }
    /// Whether tests have shown that no clock in step here is our own.
    var isForeign: Bool { isInStep && inStep.allSatisfy { $0.test?.isOurs == false } }

    /// Whether ticks come evenly, at a rate that is no whole multiple or fraction of ours.
    func hasOwnRate(beside line: TickLine) -> Bool {
        guard recent.count > Self.hearing, recent[Self.hearing] > recent[0] else { return false }
        let mean = Double(recent[Self.hearing] &- recent[0]) / Double(Self.hearing)
        let late = recent.indices.map { Double(recent[$0] &- recent[0]) / mean - Double($0) }
        let spread = (late.max() ?? 0) - (late.min() ?? 0)
        let ratio = max(mean / Double(line.tickLength), Double(line.tickLength) / mean)
        return spread < 0.4 && abs(ratio - ratio.rounded()) > 0.04 + spread / Double(Self.hearing)
    }
}
