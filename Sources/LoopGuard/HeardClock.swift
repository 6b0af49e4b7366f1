internal import MIDIClock

/// Arrivals at a steady distance from our ticks: the clock of a source, or one of several at its port.
struct HeardClock: Sendable {
    /// An arrival, by the tick of ours that it belongs to, and the microseconds since that.
    typealias Arrival = (tick: Int64, distance: Double)

    /// The last arrival, and how much its distance differed from that before.
    private(set) var last: Arrival
    private var lastStep = 0.0
    private(set) var count = 1
    /// Microseconds from our ticks to its own, and the drift of this per tick.
    private var (phase, rate): (Double, Double)
    /// ``phase`` two to four beats ago, and up to two beats ago.
    private var (origin, mark): (Double, Double)
    /// Deviation of single arrivals in microseconds, without their drift.
    private var scatter = 0.0
    private(set) var test: ProbeTest?

    init(_ arrival: Arrival) {
        last = arrival
        (phase, rate, origin, mark) = (arrival.distance, 0, arrival.distance, arrival.distance)
    }

    /// Expected distance of the next arrival from its tick, in microseconds.
    var expected: Double { phase + rate }
    /// Whether its tempo may be ours, as far as is known: USB frames and coarse timers let it wander.
    var isInStep: Bool { count >= 4 && abs(phase - origin) <= 1_500 + 6 * scatter }
    /// Whether its ticks come less evenly than any cable or interface passes on ours.
    var isCoarse: Bool { scatter > 400 }

    /// Counts its drift from here.
    mutating func restartDrift() { (origin, mark) = (phase, phase) }

    mutating func append(_ arrival: Arrival) {
        let (step, ticks) = (arrival.distance - last.distance, Double(arrival.tick &- last.tick))
        // A second difference has sqrt(6) times the deviation, and its mean is 0.8 of that.
        if count >= 2 { scatter += (abs(step - lastStep) / 1.95 - scatter) / Double(min(count - 1, 24)) }
        (lastStep, last) = (step, arrival)
        phase += rate * ticks
        let error = (arrival.distance - phase).limited(to: 2_000 + 3 * scatter)
        phase += error / 4
        if count >= 4 { rate += error / 32 / ticks }
        count += 1
        if count % 48 == 0 { (origin, mark) = (mark, phase) }
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
        let distance = phase + (last.distance - phase).limited(to: 2 * amplitude + 3 * scatter)
        test?.append(distance / amplitude, tick: last.tick, question.probe, isAlone: isAlone)
    }
}

extension Double {
    /// The nearest number that is at most so far from zero.
    func limited(to bound: Double) -> Double { min(max(self, -bound), bound) }
}
