internal import BeatTime

/// Finds out which tick of the leader each arrival is, and keeps the line through them.
struct TickTracker: Sendable {
    /// What became of numbers given before.
    enum Renumbering {
        /// Ticks from one number on are so many later.
        case shifted(from: Int64, by: Int64)
        /// The last arrivals were counted anew; see ``TickTracker/number(ofArrivalAt:)``.
        case recounted
    }

    /// The ticks that lines are laid through.
    var ring = TickRing()
    /// All that was counted, believed or not.
    var heard = TickRing()
    /// The line; nil until there are two ticks.
    var fit: TickFit?
    /// How far single ticks are from their places.
    var jitter = JitterMeter()
    /// The number the next arrival has unless ticks were lost.
    var nextNumber: Int64 = 0
    /// How many ticks were lost.
    var lost: Int64 = 0
    /// How many arrivals were no tick.
    var extra: Int64 = 0
    /// Finds the line.
    var choice = WindowChoice()
    /// Lateness by intent.
    var swing = SwingPattern()
    /// Ticks that were too early or too late, but ticks.
    var outliers = OutlierRun()
    /// Arrivals that may be ticks after lost ones.
    var late = LateRun()
    /// The last arrivals, counted or not.
    var recent = RecentArrivals()
    /// Whether the next arrival comes after an unknown number of lost ticks.
    var isLossUnknown = false
    /// Arrivals in a row that were held back or left out.
    var unplaced = 0
    /// The share of late arrivals that were held back or left out.
    var unrest = 0.0
    /// What the present arrival did to numbers given before.
    var renumbering: Renumbering?
    private var ticksToLearning = 12

    /// Microseconds; what a leader between 17 and 1100 BPM can have.
    static let plausiblePeriod = 2_270.0...147_000.0

    /// Half the width, in standard deviations, of the range a tick is believed in without more ado.
    static let gateWidth = 4.0

    /// How far an arrival may be from its place, in periods, before it is doubted that it is that tick.
    static let doubt = 0.6

    /// Arrivals over which ``unrest`` is averaged.
    static let unrestMemory = 32.0

    /// The fewest ticks a line must rest on to tell that ticks are missing or too many.
    static let reliable = 12

    /// The longest gap, in ticks, that is taken for lost ticks of a leader that went on; a longer one is a pause.
    static let mostLost = 96.0

    /// The newest tick that is believed; there is one when there is a fit.
    var newest: StampedTick { ring[0] }

    /// Whether the newest arrival was where a tick can be.
    var isOnLine: Bool { late.count == 0 }

    /// Takes in a Timing Clock.
    ///
    /// - Parameter time: in microseconds, within 2^53.
    /// - Returns: what has happened to numbers given before.
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

    /// An unknown number of ticks was lost before the next one.
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
            recount(period, not: fit.period)
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
        } else if outliers.isGrowing(to: error, gate: gate) || abs(error) <= max(gate, Self.doubt * fit.period) {
            accept(at: time, error: error, fit)
        } else if error > 0 {
            hold(time, error: error)
        } else if isCopy(at: time, fit) {
            leaveOut()
        } else {
            // Too far from the tick before to be a copy of it.
            accept(at: time, error: error, fit)
        }
    }

    /// Whether an early arrival is so close to the tick before that it can be no tick of its own.
    private func isCopy(at time: Int64, _ fit: TickFit) -> Bool {
        let closest = fit.count >= Self.reliable ? 0.5 : 0.1
        return Double(time &- newest.time) < closest * fit.period
    }

    /// Counts a late arrival as the tick that was due, without belief.
    mutating func hold(_ time: Int64, error: Double) {
        late.append(time, error: error)
        nextNumber &+= 1
        unplaced += 1
        unrest += (1 - unrest) / Self.unrestMemory
    }

    /// Takes an arrival for no tick.
    mutating func leaveOut() {
        extra &+= 1
        unplaced += 1
        unrest += (1 - unrest) / Self.unrestMemory
    }

    private func expectedError(at time: Int64, _ fit: TickFit) -> Double {
        let distance = Double(nextNumber &- newest.number) + swing.lateness(of: nextNumber)
        return Double(time &- newest.time) - fit.phase - fit.period * distance
    }

    /// How far from its place a tick is believed, in microseconds.
    func gate(_ fit: TickFit) -> Double {
        let line = jitter.equivalent * fit.nextDeviation
        return Self.gateWidth * (jitter.deviation * jitter.deviation + line * line).squareRoot()
    }

    private mutating func begin(at time: Int64) {
        if ring.count > 0, !Self.plausiblePeriod.contains(Double(time &- newest.time)) { ring.keep(newest: 0) }
        append(at: time, correction: 0)
    }

    /// Takes an arrival for the tick that was due, and draws an outlier in until others confirm it.
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
        let drawnIn = 0.75 * gate
        append(at: time, correction: isReal ? 0 : (error > 0 ? drawnIn : -drawnIn) - error, refit: !isReal)
        guard isReal else { return }
        for age in 0..<min(outliers.count, ring.count) { ring[age].correction = 0 }
        refit()
    }

    /// Forgets all ticks and their jitter; the count goes on.
    mutating func forget() {
        ring.keep(newest: 0)
        heard.keep(newest: 0)
        outliers.end()
        jitter.forget()
    }

    /// Begins a new line with one tick.
    mutating func begin(anew time: Int64) {
        forget()
        fit = nil
        append(at: time, correction: 0)
    }

    /// Counts a tick and believes it, but for a correction in microseconds.
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

    /// Lays the line anew.
    mutating func refit() {
        fit = choice.fit(ring, swing: swing, near: fit?.period ?? 20_000, noise: jitter.equivalent)
        guard let fit, !Self.plausiblePeriod.contains(fit.period) else { return }
        nextNumber = newest.number
        begin(anew: newest.time)
    }
}
