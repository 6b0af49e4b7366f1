internal import MIDIClock

/// Arrivals at a steady distance from our ticks: the clock of a source, or one of several at its port.
struct HeardClock: Sendable {
    /// An arrival, by the tick of ours that it belongs to, and the microseconds since that.
    typealias Arrival = (tick: Int64, distance: Double)

    /// Microseconds from our ticks to its own, and the drift of this per tick.
    private(set) var phase: Double
    private var rate = 0.0
    /// The last arrival, and how much its distance differed from that before.
    private(set) var last: Arrival
    private var lastStep = 0.0
    private(set) var count = 1
    /// Deviation of single arrivals in microseconds, without their drift.
    private var scatter = 0.0
    /// ``phase`` at the start and two beats ago.
    private var (origin, mark): (Double, Double)
    /// Whether it has not moved during its last two beats or more.
    private(set) var isStill = false
    private(set) var test: ProbeTest?

    /// How far delays by USB frames or coarse timers can wander without real drift, in microseconds.
    private static let wander = 1_500.0
    private static let markInterval = 48
    /// Fewest arrivals that show drift.
    private static let fewest = 8

    init(_ arrival: Arrival) {
        (phase, origin, mark, last) = (arrival.distance, arrival.distance, arrival.distance, arrival)
    }

    /// Expected distance of the next arrival from its tick, in microseconds.
    var expected: Double { phase + rate }
    /// Distance it has drifted, in microseconds.
    var distance: Double { abs(phase - origin) }
    private var bound: Double { Self.wander + 6 * scatter }
    /// Whether its tempo may be ours, as far as is known.
    var mayBeInStep: Bool { count >= 4 && abs(last.distance - origin) < bound }
    /// Whether it certainly runs at another tempo than ours.
    var hasDrifted: Bool { count >= Self.fewest && distance > bound }
    /// Whether it is a clock of its own that is in step with ours.
    var isInStep: Bool { count >= Self.fewest && !hasDrifted }
    /// Whether its ticks come less evenly than any cable or interface passes on ours.
    var isCoarse: Bool { scatter > 400 }

    /// Counts its drift from here.
    mutating func settle() { origin = phase }

    mutating func append(_ arrival: Arrival) {
        let step = arrival.distance - last.distance
        if count >= 2 {
            // A second difference has sqrt(6) times the deviation, and its mean is 0.8 of that.
            scatter += (abs(step - lastStep) / 1.95 - scatter) / Double(min(count - 1, 24))
        }
        let ticks = Double(arrival.tick - last.tick)
        (lastStep, last) = (step, arrival)
        phase += rate * ticks
        // Limit outliers.
        let bound = 2_000 + 3 * scatter
        let error = min(max(arrival.distance - phase, -bound), bound)
        phase += error / 4
        if count >= 4 { rate += error / 32 / ticks }
        count += 1
        if count % Self.markInterval == 0 {
            isStill = abs(phase - mark) < 300 + 2 * scatter
            // It has stopped drifting; or two clocks have crossed, and this is now the other one.
            if isStill, hasDrifted { origin = phase }
            mark = phase
        }
    }

    /// Tests the newest arrival.
    ///
    /// - Parameters:
    ///   - blockLength: ticks per toss that the test needs; nil if there is none.
    ///   - question: what our outputs send, if that is a probe.
    ///   - amplitude: of the probe, in microseconds.
    ///   - isAlone: whether no other clock at the port is in step with us.
    mutating func probe(_ blockLength: Int64?, _ question: LoopQuestion?, amplitude: Double, isAlone: Bool) {
        guard let blockLength else { return test = nil }
        guard let question, question.probe.blockLength == blockLength else { return }
        if test?.blockLength != blockLength { test = ProbeTest(blockLength: blockLength, lags: question.lags) }
        let outlier = 2 * amplitude + 3 * scatter
        let distance = phase + min(max(last.distance - phase, -outlier), outlier)
        test?.append(distance / amplitude, tick: last.tick, question.probe, isAlone: isAlone)
    }
}
