/// Chooses how many of the newest ticks one straight line may rest on; allocates only when made.
///
/// Two statements must hold for a window. No shorter window contradicts it (intersection of confidence intervals, of
/// the period and of the next tick). And no bend or jump inside it would make it fit better than chance can explain
/// (likelihood ratio); where one would, the window ends there.
struct WindowChoice: Sendable {
    /// Half the width of a confidence interval, in standard deviations.
    var width = 3.5
    /// The gain that chance does not explain, in variances of the noise.
    var leastGain = 16.0

    /// The fewest ticks a line rests on after a change.
    private static let least = 3

    /// Sums over the newest 2, 3, 4 … ticks, ever coarser.
    private var sums: [TickSums] = []

    init() { sums.reserveCapacity(64) }

    /// The line through the longest window that holds.
    ///
    /// - Parameters:
    ///   - ring: the ticks.
    ///   - period: roughly the period; it only keeps the sums small.
    ///   - noise: of one stamp, in microseconds.
    /// - Returns: nil for fewer than two ticks.
    mutating func fit(_ ring: borrowing TickRing, near period: Double, noise: Double) -> TickFit? {
        guard ring.count >= 2 else { return nil }
        addUp(ring, near: period)
        var chosen = longestUncontradicted(near: period, noise: noise)
        while chosen > 0, let shorter = change(before: chosen, noise: noise) { chosen = shorter }
        return TickFit(sums[chosen], near: period)
    }

    private mutating func addUp(_ ring: borrowing TickRing, near period: Double) {
        let newest = ring[0]
        var running = TickSums()
        var next = 1
        sums.removeAll(keepingCapacity: true)
        for age in 0..<ring.count {
            let tick = ring[age]
            let x = Double(tick.number &- newest.number)
            running.add(x, Double(tick.time &- newest.time) + tick.correction - x * period)
            guard age == next || age == ring.count - 1 else { continue }
            sums.append(running)
            next += max(1, next / 10)
        }
    }

    private func longestUncontradicted(near period: Double, noise: Double) -> Int {
        var periods = Interval()
        var nexts = Interval()
        var chosen = 0
        for index in sums.indices where index == sums.count - 1 || sums[index].count >= 4 {
            let fit = TickFit(sums[index], near: period)
            periods.narrow(around: fit.period, by: width * noise * fit.periodDeviation)
            nexts.narrow(around: fit.phase + fit.period, by: width * noise * fit.nextDeviation)
            guard !periods.isEmpty, !nexts.isEmpty else { break }
            chosen = index
        }
        return chosen
    }

    /// The window that ends where a longer one most likely bends or jumps, if it does.
    private func change(before window: Int, noise: Double) -> Int? {
        let whole = sums[window]
        guard whole.count >= 6 else { return nil }
        var best = leastGain * noise * noise
        var found: Int?
        for index in 0..<window {
            let newer = sums[index]
            // The bend is at the oldest tick of the window that is kept, which lies on both lines.
            let bend = whole.gain(newer, bendAt: newer.oldest)
            let jump = whole.gain(newer, bendAt: nil)
            guard max(bend, jump) > best else { continue }
            best = max(bend, jump)
            found = newer.count >= Double(Self.least) ? index : nil
        }
        return found
    }
}

/// What is left of a range when intervals are laid over one another.
private struct Interval {
    var low = -Double.infinity
    var high = Double.infinity

    var isEmpty: Bool { low > high }

    mutating func narrow(around centre: Double, by half: Double) {
        low = max(low, centre - half)
        high = min(high, centre + half)
    }
}
