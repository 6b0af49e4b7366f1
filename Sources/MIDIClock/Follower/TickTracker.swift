internal import BeatTime

/// Decides which tick of the leader each arrival is, and fits the line through them.
struct TickTracker: Sendable {
    /// A change of earlier tick numbers.
    enum Renumbering {
        /// All ticks from a number on have higher numbers.
        case shifted(from: Int64, by: Int64)
        /// The last arrivals were numbered again; see ``TickTracker/number(ofArrivalAt:)``.
        case recounted
    }

    /// The ticks that lines are fitted to.
    var ring = TickRing()
    /// All counted ticks, whether used for the line or not.
    var heard = TickRing()
    /// The line; nil until there are two ticks.
    var fit: TickFit?
    /// Jitter of single ticks.
    var jitter = JitterMeter()
    /// Number of the next arrival, unless ticks were lost.
    var nextNumber: Int64 = 0
    /// Number of lost ticks.
    var lost: Int64 = 0
    /// Number of arrivals that were no ticks.
    var extra: Int64 = 0
    /// Chooses the window for the line.
    var choice = WindowChoice()
    /// The leader's swing.
    var swing = SwingPattern()
    /// Recent ticks that were too early or too late.
    var outliers = OutlierRun()
    /// Late arrivals that may be ticks after lost ones.
    var late = LateRun()
    /// The last arrivals, counted or not.
    var recent = RecentArrivals()
    /// Whether an unknown number of ticks was lost before the next arrival.
    var isLossUnknown = false
    /// Arrivals in a row that were held back or left out.
    var unplaced = 0
    /// Share of recent arrivals that were held back or left out.
    var unrest = 0.0
    /// How the present arrival changed earlier numbers.
    var renumbering: Renumbering?
    private var ticksToLearning = 12

    /// Possible periods in microseconds, for leaders between 17 and 1100 BPM.
    static let plausiblePeriod = 2_270.0...147_000.0

    /// Half the width of the range in which a tick is accepted directly, in standard deviations.
    static let gateWidth = 4.0

    /// Distance from the expected place, in periods, beyond which an arrival may not be that tick.
    static let ambiguousDistance = 0.6

    /// Arrivals over which ``unrest`` is averaged.
    static let unrestMemory = 32.0

    /// Fewest ticks that a line needs to tell missing from extra ticks.
    static let reliable = 12

    /// Longest gap, in ticks, that counts as lost ticks; a longer one is a pause.
    static let mostLost = 96.0
    /// Most late arrivals in a row that are held back; then a new line begins.
    static let mostHeld = 96

    /// The newest tick used for the line; exists when there is a fit.
    var newest: StampedTick { ring[0] }

    /// Whether the newest arrival was at a possible place.
    var isOnLine: Bool { late.count == 0 }

    /// Processes a Timing Clock.
    ///
    /// - Parameter time: in microseconds, within 2^53.
    /// - Returns: how earlier numbers have changed.
    mutating func arrived(at time: Int64) -> Renumbering? {
        renumbering = nil
        let extraBefore = extra
        recent.append(time, number: nextNumber)
        identify(time)
        if !isRecounted, extra == extraBefore {
            heard.append(StampedTick(number: nextNumber &- 1, time: time, correction: 0))
        }
        learnSwing()
        return renumbering
    }

    /// Notes that an unknown number of ticks was lost before the next one.
    mutating func ticksMayBeLost() { isLossUnknown = true }

    /// The number of one of the last 256 arrivals.
    func number(ofArrivalAt time: Int64) -> Int64? {
        for age in 0..<heard.count where heard[age].time == time { return heard[age].number }
        return nil
    }

    private var isRecounted: Bool {
        if case .recounted? = renumbering { true } else { false }
    }

    private mutating func identify(_ time: Int64) {
        guard let fit else {
            begin(at: time)
            return
        }
        if let period = recent.regularPeriod(noise: jitter.deviation),
            unplaced >= RecentArrivals.regular - 1 || period < 0.62 * fit.period || period > 1.55 * fit.period
        {
            recount(period: period, former: fit.period)
            return
        }
        var error = expectedError(at: time, fit)
        if isLossUnknown {
            let missing = max(0, roundedToInteger(error / fit.period))
            skip(missing)
            error -= Double(missing) * fit.period
            late.end()
        }
        place(at: time, error: error, fit)
    }

    private mutating func place(at time: Int64, error: Double, _ fit: TickFit) {
        let gate = gate(fit)
        if late.count > 0 {
            resolve(at: time, error: error, fit)
        } else if outliers.isGrowing(to: error, gate: gate)
            || abs(error) <= max(gate, Self.ambiguousDistance * fit.period)
        {
            accept(at: time, error: error, fit)
        } else if error > 0 {
            hold(time, error: error)
        } else if isDuplicate(at: time, fit) {
            leaveOut()
        } else {
            // Too far from the previous tick to be a duplicate of it.
            accept(at: time, error: error, fit)
        }
    }

    /// Whether an early arrival is too close to the previous tick to be a tick of its own.
    private func isDuplicate(at time: Int64, _ fit: TickFit) -> Bool {
        let closest = fit.count >= Self.reliable ? 0.5 : 0.1
        return Double(time &- newest.time) < closest * fit.period
    }

    /// Counts a late arrival as the expected tick, but does not use it yet.
    mutating func hold(_ time: Int64, error: Double) {
        late.append(time, error: error)
        nextNumber &+= 1
        unplaced += 1
        unrest += (1 - unrest) / Self.unrestMemory
    }

    /// Treats an arrival as no tick.
    mutating func leaveOut() {
        extra &+= 1
        unplaced += 1
        unrest += (1 - unrest) / Self.unrestMemory
    }

    private func expectedError(at time: Int64, _ fit: TickFit) -> Double {
        let distance = Double(nextNumber &- newest.number) + swing.lateness(of: nextNumber)
        return Double(time &- newest.time) - fit.phase - fit.period * distance
    }

    /// Largest distance from its expected time at which a tick is accepted directly, in microseconds.
    func gate(_ fit: TickFit) -> Double {
        let line = jitter.equivalent * fit.nextDeviation
        return Self.gateWidth * (jitter.deviation * jitter.deviation + line * line).squareRoot()
    }

    private mutating func begin(at time: Int64) {
        if ring.count > 0, !Self.plausiblePeriod.contains(Double(time &- newest.time)) { ring.keep(newest: 0) }
        append(at: time, correction: 0)
    }

    /// Accepts an arrival as the expected tick; an outlier counts only in part until others confirm it.
    mutating func accept(at time: Int64, error: Double, _ fit: TickFit) {
        let gate = gate(fit)
        jitter.missed(by: error)
        guard abs(error) > gate else {
            outliers.end()
            append(at: time, correction: 0)
            return
        }
        let isReal = outliers.take(error, gate: gate)
        if let jump = outliers.jump { jitter.jumped(by: jump, at: nextNumber, period: fit.period) }
        let limited = error > 0 ? 0.75 * gate : -0.75 * gate
        append(at: time, correction: isReal ? 0 : limited - error, refit: !isReal)
        guard isReal else { return }
        for age in 0..<min(outliers.count, ring.count) { ring[age].correction = 0 }
        refit()
    }

    /// Forgets all ticks and their jitter; the numbering continues.
    mutating func forget() {
        ring.keep(newest: 0)
        heard.keep(newest: 0)
        outliers.end()
        jitter.forget()
    }

    /// Starts a new line with one tick.
    mutating func begin(anew time: Int64) {
        forget()
        fit = nil
        append(at: time, correction: 0)
    }

    /// Counts a tick and uses it for the line, with a correction in microseconds.
    mutating func append(at time: Int64, correction: Double, refit isWanted: Bool = true) {
        ring.append(StampedTick(number: nextNumber, time: time, correction: correction))
        nextNumber &+= 1
        isLossUnknown = false
        unplaced = 0
        unrest -= unrest / Self.unrestMemory
        jitter.took(ring)
        if isWanted { refit() }
    }

    private mutating func learnSwing() {
        ticksToLearning -= 1
        guard ticksToLearning <= 0, late.count == 0, let fit else { return }
        ticksToLearning = 12
        guard let count = swing.learn(heard, near: fit.period, noise: jitter.deviation) else { return }
        undoLosses(among: min(heard.count, count + 24))
    }

    /// Fits the line again.
    mutating func refit() {
        fit = choice.fit(ring, swing: swing, near: fit?.period ?? 20_000, noise: jitter.equivalent)
        guard let fit, !Self.plausiblePeriod.contains(fit.period) else { return }
        nextNumber = newest.number
        begin(anew: newest.time)
    }
}
