internal import BeatTime

/// Finds out which tick of the master each arrival is, and keeps the line through them.
struct TickTracker: Sendable {
    /// What became of numbers given before.
    enum Renumbering {
        /// Ticks from one number on are so many later.
        case shifted(from: Int64, by: Int64)
        /// The last arrivals were counted anew; see ``TickTracker/number(ofArrivalAt:)``.
        case recounted
    }

    /// The ticks that lines are laid through.
    private var ring = TickRing()
    /// All that was counted, believed or not.
    private var heard = TickRing()
    private(set) var fit: TickFit?
    private(set) var jitter = JitterMeter()
    /// The number the next arrival has unless ticks were lost.
    private(set) var nextNumber: Int64 = 0
    /// How many ticks were lost.
    private(set) var lost: Int64 = 0
    /// How many arrivals were no tick.
    private(set) var extra: Int64 = 0
    private var choice = WindowChoice()
    private var swing = SwingPattern()
    private var outliers = OutlierRun()
    private var late = LateRun()
    private var recent = RecentArrivals()
    private var ticksToLearning = 12
    private var isLossUnknown = false
    /// Arrivals in a row that were held back or left out.
    private var unplaced = 0
    /// The share of late arrivals that were held back or left out.
    private(set) var unrest = 0.0
    private var renumbering: Renumbering?

    /// Microseconds; what a master between 17 and 1100 BPM can have.
    static let plausiblePeriod = 2_270.0...147_000.0

    /// Half the width, in standard deviations, of the range a tick is believed in without more ado.
    private static let gateWidth = 4.0

    /// How far an arrival may be from its place, in periods, before it is doubted that it is that tick.
    private static let doubt = 0.6

    /// Arrivals over which ``unrest`` is averaged.
    private static let unrestMemory = 32.0

    /// The fewest ticks a line must rest on to tell that ticks are missing or too many.
    private static let reliable = 12

    /// The longest gap, in ticks, that is taken for lost ticks of a master that went on; a longer one is a pause.
    private static let mostLost = 96.0

    /// The newest tick that is believed; there is one when there is a fit.
    var newest: StampedTick { ring[0] }

    /// Whether the newest arrival was where a tick can be.
    var isOnLine: Bool { late.count == 0 }

    /// Takes in a Timing Clock.
    ///
    /// - Parameter time: in microseconds, within 2^53.
    /// - Returns: what has happened to numbers given before; numbers of ticks are never reused for others.
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
            unplaced >= RecentArrivals.capacity - 1 || period < 0.62 * fit.period || period > 1.55 * fit.period
        {
            recount()
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

    private mutating func hold(_ time: Int64, error: Double) {
        late.append(time, error: error)
        nextNumber &+= 1
        unplaced += 1
        unrest += (1 - unrest) / Self.unrestMemory
    }

    private mutating func leaveOut() {
        extra &+= 1
        unplaced += 1
        unrest += (1 - unrest) / Self.unrestMemory
    }

    private func expectedError(at time: Int64, _ fit: TickFit) -> Double {
        let distance = Double(nextNumber &- newest.number) + swing.lateness(of: nextNumber)
        return Double(time &- newest.time) - fit.phase - fit.period * distance
    }

    private func gate(_ fit: TickFit) -> Double {
        let line = jitter.equivalent * fit.nextDeviation
        return Self.gateWidth * (jitter.deviation * jitter.deviation + line * line).squareRoot()
    }

    private mutating func begin(at time: Int64) {
        if ring.count > 0, !Self.plausiblePeriod.contains(Double(time &- newest.time)) { ring.keep(newest: 0) }
        append(at: time, correction: 0)
    }

    private mutating func accept(at time: Int64, error: Double, _ fit: TickFit) {
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

    /// Decides what late arrivals are: the end of a stall, ticks after lost ones, or a master that paused.
    private mutating func resolve(at time: Int64, error: Double, _ fit: TickFit) {
        guard abs(error) > Self.doubt * fit.period else {
            late.end()
            accept(at: time, error: error, fit)
            return
        }
        guard error > 0 else {
            leaveOut()
            return
        }
        let isCatchingUp = Double(time &- late.lastTime) < fit.period / 2
        if !isCatchingUp, let missing = lostTicks(error, fit) {
            renumbering = .shifted(from: nextNumber &- Int64(late.count), by: missing)
            for age in 0..<min(late.count, heard.count) { heard[age].number &+= missing }
            skip(missing)
            comeBack(late.lastTime, time)
        } else if !isCatchingUp, late.count >= 3, abs(error - late.lastError) < 0.3 * fit.period {
            resumeElsewhere(late.lastTime, time, fit)
        } else if late.count < Int(Self.mostLost) {
            hold(time, error: error)
        } else {
            late.end()
            begin(anew: time)
        }
    }

    /// How many ticks were lost, when the last two arrivals agree on that.
    private func lostTicks(_ error: Double, _ fit: TickFit) -> Int64? {
        let missing = (error / fit.period).rounded()
        let line = jitter.equivalent * (fit.phaseDeviation + fit.periodDeviation * missing)
        let drift = Self.gateWidth * (jitter.deviation + line)
        guard fit.count >= Self.reliable, missing <= Self.mostLost, drift < 0.3 * fit.period else { return nil }
        let tolerance = max(0.1 * fit.period, drift)
        let isOnLine = abs(error - missing * fit.period) <= tolerance
        return isOnLine && abs(late.lastError - missing * fit.period) <= tolerance ? Int64(missing) : nil
    }

    private mutating func skip(_ missing: Int64) {
        isLossUnknown = false
        nextNumber &+= missing
        lost &+= missing
    }

    /// Goes on with two late arrivals, the second of which has the next number.
    private mutating func comeBack(_ before: Int64, _ time: Int64) {
        nextNumber &-= 1
        late.end()
        outliers.end()
        append(at: before, correction: 0, refit: false)
        append(at: time, correction: 0)
    }

    /// Goes on where the master does: it paused or was moved, and no tick was lost.
    ///
    /// If its tempo is what it was, the line is shifted there; otherwise it begins anew.
    private mutating func resumeElsewhere(_ before: Int64, _ time: Int64, _ fit: TickFit) {
        let interval = Double(time &- before)
        if abs(interval - fit.period) > max(0.1 * fit.period, 2 * gate(fit)) {
            ring.keep(newest: 0)
        } else {
            ring.keep(newest: 24)
            for age in 0..<ring.count { ring[age].correction += late.lastError }
        }
        comeBack(before, time)
    }

    /// The last arrivals are alike and unlike the line: each is a tick, of another tempo.
    private mutating func recount() {
        late.end()
        outliers.end()
        recent.renumber()
        while ring.count > 0, ring[0].number >= recent.oldestNumber { ring.removeNewest() }
        while heard.count > 0, heard[0].number >= recent.oldestNumber { heard.removeNewest() }
        if ring.count > 0, !isNear(ring[0], recent.time(0), number: recent.oldestNumber) { forget() }
        extra = max(0, extra &- (recent.newestNumber &- nextNumber))
        nextNumber = recent.oldestNumber
        for index in 0..<RecentArrivals.capacity {
            heard.append(StampedTick(number: nextNumber, time: recent.time(index), correction: 0))
            append(at: recent.time(index), correction: 0, refit: false)
        }
        renumbering = .recounted
        refit()
    }

    /// Whether a tick of that number can have come at a time, at any tempo.
    private func isNear(_ tick: StampedTick, _ time: Int64, number: Int64) -> Bool {
        let longest = Self.plausiblePeriod.upperBound * Double(number &- tick.number)
        return time > tick.time && Double(time &- tick.time) < longest
    }

    private mutating func forget() {
        ring.keep(newest: 0)
        heard.keep(newest: 0)
        outliers.end()
        jitter.forget()
    }

    private mutating func begin(anew time: Int64) {
        forget()
        fit = nil
        append(at: time, correction: 0)
    }

    private mutating func append(at time: Int64, correction: Double, refit isWanted: Bool = true) {
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

    /// What looked like lost ticks was swing: every one of the newest arrivals is the tick after the one before.
    private mutating func undoLosses(among count: Int) {
        let oldest = heard[count - 1].number
        let excess = heard[0].number &- oldest &- Int64(count - 1)
        guard excess > 0 else { return }
        lost &-= excess
        ring.keep(newest: 0)
        nextNumber = oldest
        for age in stride(from: count - 1, through: 0, by: -1) {
            heard[age].number = nextNumber
            ring.append(heard[age])
            nextNumber &+= 1
        }
        renumbering = .recounted
        refit()
    }

    private mutating func refit() {
        fit = choice.fit(ring, swing: swing, near: fit?.period ?? 20_000, noise: jitter.equivalent)
        guard let fit, !Self.plausiblePeriod.contains(fit.period) else { return }
        begin(anew: newest.time)
    }
}
