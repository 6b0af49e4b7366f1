internal import MIDIClock

/// Arrivals of one source at a steady distance from our ticks: its clock, or one of several at its port.
struct PhaseHistory: Sendable {
    /// Microseconds from our ticks to its arrivals, including drift.
    private(set) var phase: Double
    /// Drift in microseconds per tick of ours.
    private var rate = 0.0
    /// Our tick that belongs to the last arrival.
    private(set) var lastTick: Int64
    private(set) var count = 1
    /// Whether it has not moved during its last two beats or more.
    private(set) var isStill = false
    /// Value of ``phase`` at the start, and at the last mark.
    private var origin: Double
    private var mark: Double
    private var lastDistance: Double
    private var lastStep = 0.0
    /// Deviation of single arrivals in microseconds, without their drift.
    private var scatter = 0.0
    private var question: LoopQuestion?
    private var test = Test.none
    private var segment = Residuals()
    /// The result of the test.
    private var outcome = EchoTest.Outcome.open

    /// The current test.
    private enum Test: Sendable {
        case none
        case echo(EchoTest)
        case regeneration(RegenerationTest)
    }

    /// How far delays by USB frames or coarse timers can wander without real drift, in microseconds.
    private static let wander = 1_500.0
    private static let markInterval = 48
    /// Fewest arrivals that show drift.
    private static let fewest = 8

    init(_ arrival: Residuals.Arrival) {
        (phase, origin, mark) = (arrival.distance, arrival.distance, arrival.distance)
        (lastDistance, lastTick) = (arrival.distance, arrival.tick)
    }

    /// Expected distance of the next arrival from its tick, in microseconds.
    var expected: Double { phase + rate }

    /// Distance it has drifted, in microseconds.
    var distance: Double { abs(phase - origin) }

    /// Whether its tempo may be ours, as far as is known.
    var mayBeInStep: Bool { count >= 4 && abs(lastDistance - origin) < bound }

    /// Whether it certainly runs at another tempo than ours.
    var hasDrifted: Bool { count >= Self.fewest && distance > bound }

    /// Whether it is a clock of its own that is in step with ours.
    var isInStep: Bool { count >= Self.fewest && !hasDrifted }

    /// Whether its ticks come less evenly than any cable or interface passes on ours.
    var isCoarse: Bool { scatter > 400 }

    private var bound: Double { Self.wander + 6 * scatter }

    mutating func append(_ arrival: Residuals.Arrival) {
        let step = arrival.distance - lastDistance
        if count >= 2 {
            // A second difference has sqrt(6) times the deviation, and its mean is 0.8 of that.
            scatter += (abs(step - lastStep) / 1.95 - scatter) / Double(min(count - 1, 24))
        }
        let ticks = Double(arrival.tick &- lastTick)
        (lastStep, lastDistance, lastTick) = (step, arrival.distance, arrival.tick)
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

    /// Counts its drift from here.
    mutating func settle() { origin = phase }

    /// Starts the test for a probe.
    ///
    /// - Parameters:
    ///   - newQuestion: nil ends the test.
    ///   - prior: the initial odds for a loop.
    mutating func begin(_ newQuestion: LoopQuestion?, prior: Double) {
        guard newQuestion?.probe != question?.probe else { return }
        // The next slow probe continues where the last one left the matter open.
        let odds = outcome == .open ? max(evidence, prior) : prior
        question = newQuestion
        outcome = .open
        segment.removeAll()
        guard let newQuestion else {
            test = .none
            return
        }
        test =
            newQuestion.isSlow
            ? .regeneration(RegenerationTest(newQuestion.probe, stake: odds))
            : .echo(EchoTest(newQuestion.probe, lags: newQuestion.lags))
    }

    /// Why it is our own clock; nil unless that is known.
    var loop: LoopReason? {
        guard outcome == .echo, let question else { return nil }
        return question.isSlow ? .regenerated : .echo
    }

    /// Whether a probe, slow or not, has shown that it is not our own clock.
    func isExcluded(bySlowProbe isSlow: Bool) -> Bool { outcome == .noEcho && question?.isSlow == isSlow }

    /// The odds for a loop from the slow probe so far.
    var evidence: Double {
        if case .regeneration(let test) = test { test.stake } else { 1 }
    }

    /// Tests an arrival that was just added.
    ///
    /// - Parameters:
    ///   - arrival: the newest one.
    ///   - amplitude: of the probe, in microseconds.
    ///   - isAlone: whether no other clock at the port is in step with us.
    mutating func judge(_ arrival: Residuals.Arrival, amplitude: Double, isAlone: Bool) {
        guard outcome == .open else { return }
        switch test {
        case .none: break
        case .echo(var echo):
            segment.append(arrival)
            guard EchoTest.isLook(segment.count) else { return }
            outcome = echo.judge(segment, amplitude: amplitude, isAlone: isAlone)
            test = .echo(echo)
            if segment.count >= EchoTest.segmentLength { segment.removeAll() }
        case .regeneration(var regeneration):
            test = .none
            outcome = regeneration.append(arrival, amplitude: amplitude)
            test = .regeneration(regeneration)
        }
    }
}
