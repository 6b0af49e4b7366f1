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
    var gateWidth = 4.0

    /// Microseconds; what a master between 17 and 1100 BPM can have.
    static let plausiblePeriod = 2_270.0...147_000.0

    /// How far an arrival may be from its place, in periods, before it is doubted that it is that tick.
    private static let doubt = 0.6

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
        return Double(time &- newest.time) - fit.phase - fit.period * Double(nextNumber &- newest.number)
    }

    private func gate(_ fit: TickFit) -> Double {
        gateWidth * jitter.deviation * (1 + fit.nextDeviation * fit.nextDeviation).squareRoot()
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
        let clipped = gate * 0.75
        append(at: time, correction: isReal ? 0 : (error > 0 ? clipped : -clipped) - error, refit: !isReal)
        guard isReal else { return }
        for age in 0..<min(outliers.count, ring.count) { ring[age].correction = 0 }
        refit()
    }

    private mutating func resolve(at time: Int64, error: Double, _ fit: TickFit) {
        let interval = Double(time &- late.lastTime)
        if abs(error) <= Self.doubt * fit.period {
            late.end()
            accept(at: time, error: error, fit)
            return
        }
        guard error > 0 else { return }
        if interval >= fit.period / 2, abs(error - late.lastError) < 0.3 * fit.period {
            settleLoss(at: time, error: error, fit)
            return
        }
        late.append(time, error: error)
        nextNumber &+= 1
        if late.count > 96 { restart(withRecent: 2) }
    }

    private mutating func settleLoss(at time: Int64, error: Double, _ fit: TickFit) {
        let lost = (error / fit.period).rounded()
        let uncertainty = jitter.deviation * (1 + fit.phaseDeviation + fit.periodDeviation * lost)
        let tolerance = max(0.1 * fit.period, min(4 * uncertainty, 0.3 * fit.period))
        let rest = error - lost * fit.period
        let restBefore = late.lastError - lost * fit.period
        let before = late.lastTime
        late.end()
        if lost <= 96, 4 * uncertainty < 0.3 * fit.period, abs(rest) <= tolerance, abs(restBefore) <= tolerance {
            nextNumber &+= Int64(lost)
            outliers.end()
            nextNumber &-= 1
            append(at: before, correction: 0)
            append(at: time, correction: 0)
        } else {
            pause(before, time, fit)
        }
    }

    private mutating func pause(_ before: Int64, _ time: Int64, _ fit: TickFit) {
        nextNumber &-= 1
        outliers.end()
        let interval = Double(time &- before)
        if abs(interval - fit.period) > max(0.1 * fit.period, 2 * gate(fit)) {
            ring.keep(newest: 0)
        } else {
            let shift = expectedError(at: before, fit)
            ring.keep(newest: 24)
            for age in 0..<ring.count { ring[age].correction += shift }
        }
        append(at: before, correction: 0, refit: false)
        append(at: time, correction: 0)
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
        if wanted { refit() }
    }

    private mutating func refit() {
        fit = choice.fit(ring, near: fit?.period ?? 20_000, noise: jitter.deviation)
    }
}
