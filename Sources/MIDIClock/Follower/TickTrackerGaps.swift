/// Handles arrivals that are not where a tick was expected: gaps, pauses and leaps.
extension TickTracker {
    /// Decides what late arrivals are: the end of a stall, ticks after lost ones, or a leader that paused.
    mutating func resolve(at time: Int64, error: Double, _ fit: TickFit) {
        guard abs(error) > Self.ambiguousDistance * fit.period else {
            late.end()
            accept(at: time, error: error, fit)
            return
        }
        guard error > 0 else {
            leaveOut()
            return
        }
        // In the burst after a stall, lateness falls with each arrival, so neither of the next two branches applies.
        if let missing = lostTicks(error, fit) {
            renumbering = .shifted(from: nextNumber &- Int64(late.count), by: missing)
            for age in 0..<min(late.count, heard.count) { heard[age].number &+= missing }
            skip(missing)
            comeBack(late.lastTime, time)
        } else if late.count >= 3, abs(error - late.lastError) < 0.3 * fit.period {
            resumeElsewhere(late.lastTime, time, fit)
        } else if late.count < Self.mostHeld {
            hold(time, error: error)
        } else {
            late.end()
            begin(anew: time)
        }
    }

    /// Number of lost ticks, if the last two arrivals agree.
    func lostTicks(_ error: Double, _ fit: TickFit) -> Int64? {
        let guess = (error / fit.period).rounded()
        let missing = ((error + swingDifference(from: nextNumber, ahead: guess, fit)) / fit.period).rounded()
        let newest = error + swingDifference(from: nextNumber, ahead: missing, fit)
        let before = late.lastError + swingDifference(from: nextNumber &- 1, ahead: missing, fit)
        let line = jitter.equivalent * (fit.phaseDeviation + fit.periodDeviation * missing)
        let drift = Self.gateWidth * (jitter.deviation + line)
        guard fit.count >= Self.reliable, missing <= Self.mostLost, drift < 0.3 * fit.period else { return nil }
        let tolerance = max(0.1 * fit.period, drift)
        // With a slower tempo ticks come later and later; after a loss they are equally late.
        let isConstant = abs(newest - before) < max(0.1 * fit.period, min(4.3 * jitter.deviation, tolerance))
        let isOnLine = abs(newest - missing * fit.period) <= tolerance
        let wasOnLine = abs(before - missing * fit.period) <= tolerance
        return isConstant && isOnLine && wasOnLine ? Int64(missing) : nil
    }

    /// Swing of a tick minus swing of a later one, in microseconds.
    private func swingDifference(from number: Int64, ahead ticks: Double, _ fit: TickFit) -> Double {
        guard abs(ticks) <= Self.mostLost else { return 0 }
        return (swing.lateness(of: number) - swing.lateness(of: number &+ Int64(ticks))) * fit.period
    }

    /// Skips the numbers of lost ticks, and counts them.
    mutating func skip(_ missing: Int64) {
        isLossUnknown = false
        nextNumber &+= missing
        lost &+= missing
    }

    /// Continues with two late arrivals; the second one has the next number.
    mutating func comeBack(_ before: Int64, _ time: Int64) {
        nextNumber &-= 1
        late.end()
        outliers.end()
        append(at: before, correction: 0, refit: false)
        append(at: time, correction: 0)
    }

    /// Continues after the leader has paused or was moved; no tick was lost.
    ///
    /// If the tempo is the same, the line through the newest 24 ticks is shifted; otherwise a new line begins.
    mutating func resumeElsewhere(_ before: Int64, _ time: Int64, _ fit: TickFit) {
        let interval = Double(time &- before)
        if abs(interval - fit.period) > max(0.1 * fit.period, 2 * gate(fit)) {
            ring.keep(newest: 0)
        } else {
            ring.keep(newest: 24)
            for age in 0..<ring.count { ring[age].correction += late.lastError }
        }
        comeBack(before, time)
    }

    /// Counts each of the last arrivals as a tick of another tempo, since they are evenly spaced but off the line.
    mutating func recount(period: Double, former: Double) {
        late.end()
        outliers.end()
        recent.count(each: period, not: former)
        let first = recent.oldest
        while ring.count > 0, ring[0].number >= first.number { ring.removeNewest() }
        while heard.count > 0, heard[0].number >= first.number { heard.removeNewest() }
        if ring.count > 0, !canFollow(ring[0], at: first.time, number: first.number) { forget() }
        // Arrivals that were left out as extra are ticks now.
        extra = max(0, extra &- (recent.newest.number &- nextNumber))
        nextNumber = first.number
        for arrival in recent.all {
            heard.append(StampedTick(number: nextNumber, time: arrival.time, correction: 0))
            append(at: arrival.time, correction: 0, refit: false)
        }
        renumbering = .recounted
        refit()
    }

    /// Whether an arrival with a later number can follow a tick: after it, and no later than at the slowest tempo.
    private func canFollow(_ tick: StampedTick, at time: Int64, number: Int64) -> Bool {
        let longest = Self.plausiblePeriod.upperBound * Double(number &- tick.number)
        return time > tick.time && Double(time &- tick.time) < longest
    }

    /// Undoes lost ticks that were really swing: the newest arrivals are consecutive ticks.
    mutating func undoLosses(among count: Int) {
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
}
