/// Finds out which tick of the master each arrival is, and keeps the line through them.
struct TickTracker: Sendable {
    private(set) var ring = TickRing()
    private(set) var fit: TickFit?
    private(set) var jitter = JitterMeter()
    /// The number the next arrival has unless ticks were lost.
    private(set) var nextNumber: Int64 = 0
    private var outliers = OutlierRun()
    private var late = LateRun()
    private var recent = RecentArrivals()

    private var choice = WindowChoice()
    private var swing = SwingPattern()
    private var ticksToLearning = 12
    var gateWidth = 4.0

    /// Microseconds; what a master between 17 and 1100 BPM can have.
    static let plausiblePeriod = 2_270.0...147_000.0

    /// How far an arrival may be from its place, in periods, before it is doubted that it is that tick.
    private static let doubt = 0.6

    /// The longest gap, in ticks, that is taken for lost ticks of a master that went on; a longer one is a pause.
    private static let mostLost = 96.0

    mutating func arrived(at time: Int64) {
        recent.append(time, number: nextNumber)
        guard let fit else {
            begin(at: time)
            return
        }
        if let period = recent.regularPeriod, period < 0.62 * fit.period || period > 1.55 * fit.period {
            restart(withRecent: RecentArrivals.capacity)
            return
        }
        let error = expectedError(at: time, fit)
        if late.count > 0 {
            resolve(at: time, error: error, fit)
        } else if outliers.isGrowing(to: error, gate: gate(fit)) {
            accept(at: time, error: error, fit)
        } else if error > Self.doubt * fit.period {
            late.append(time, error: error)
            nextNumber &+= 1
        } else if error >= -Self.doubt * fit.period {
            accept(at: time, error: error, fit)
        }
    }

    /// An unknown number of ticks was lost before the next one.
    mutating func ticksMayBeLost() { late.unknownLoss = true }

    private func expectedError(at time: Int64, _ fit: TickFit) -> Double {
        let newest = ring[0]
        let distance = Double(nextNumber &- newest.number) + swing.lateness(of: nextNumber)
        return Double(time &- newest.time) - fit.phase - fit.period * distance
    }

    private func gate(_ fit: TickFit) -> Double {
        gateWidth * jitter.equivalent * (1 + fit.nextDeviation * fit.nextDeviation).squareRoot()
    }

    private mutating func begin(at time: Int64) {
        if ring.count > 0, !Self.plausiblePeriod.contains(Double(time &- ring[0].time)) { ring.keep(newest: 0) }
        append(at: time, correction: 0)
    }

    private mutating func accept(at time: Int64, error: Double, _ fit: TickFit) {
        let gate = gate(fit)
        guard abs(error) > gate else {
            outliers.end()
            append(at: time, correction: 0)
            return
        }
        let isReal = outliers.take(error, gate: gate)
        if let jump = outliers.jump { jitter.jumped(by: jump, at: nextNumber) }
        let clipped = gate * 0.75
        append(at: time, correction: isReal ? 0 : (error > 0 ? clipped : -clipped) - error, refit: !isReal)
        guard isReal else { return }
        for age in 0..<min(outliers.count, ring.count) { ring[age].correction = 0 }
        refit()
    }

    private mutating func resolve(at time: Int64, error: Double, _ fit: TickFit) {
        guard abs(error) > Self.doubt * fit.period else {
            late.end()
            accept(at: time, error: error, fit)
            return
        }
        guard error > 0 else { return }
        let isCatchingUp = Double(time &- late.lastTime) < fit.period / 2
        if !isCatchingUp, let lost = lostTicks(error, fit) {
            comeBack(to: nextNumber &+ lost, late.lastTime, time)
        } else if !isCatchingUp, late.count >= 3, abs(error - late.lastError) < 0.3 * fit.period {
            resumeElsewhere(late.lastTime, time, fit)
        } else if late.count < 96 {
            late.append(time, error: error)
            nextNumber &+= 1
        } else {
            restart(withRecent: 2)
        }
    }

    /// How many ticks were lost, when the last two arrivals agree on that.
    private func lostTicks(_ error: Double, _ fit: TickFit) -> Int64? {
        let lost = (error / fit.period).rounded()
        let drift = 4 * jitter.equivalent * (1 + fit.phaseDeviation + fit.periodDeviation * lost)
        guard lost <= Self.mostLost, drift < 0.3 * fit.period else { return nil }
        let tolerance = max(0.1 * fit.period, drift)
        let isOnLine = abs(error - lost * fit.period) <= tolerance
        return isOnLine && abs(late.lastError - lost * fit.period) <= tolerance ? Int64(lost) : nil
    }

    /// Goes on after a gap with two arrivals whose numbers are known.
    private mutating func comeBack(to number: Int64, _ before: Int64, _ time: Int64) {
        nextNumber = number &- 1
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
        comeBack(to: nextNumber, before, time)
    }

    private mutating func restart(withRecent count: Int) {
        late.end()
        outliers.end()
        ring.keep(newest: 0)
        let kept = recent.newest(count)
        nextNumber = kept.first?.number ?? nextNumber
        for arrival in kept { append(at: arrival.time, correction: 0, refit: false) }
        recent.removeAll()
        refit()
    }

    private mutating func append(at time: Int64, correction: Double, refit wanted: Bool = true) {
        ring.append(StampedTick(number: nextNumber, time: time, correction: correction))
        nextNumber &+= 1
        jitter.took(ring)
        learnSwing()
        if wanted { refit() }
    }

    private mutating func learnSwing() {
        ticksToLearning -= 1
        guard ticksToLearning <= 0, let fit else { return }
        ticksToLearning = 12
        _ = swing.learn(ring, near: fit.period, noise: jitter.equivalent)
    }

    private mutating func refit() {
        fit = choice.fit(ring, swing: swing, near: fit?.period ?? 20_000, noise: jitter.equivalent)
    }
}
