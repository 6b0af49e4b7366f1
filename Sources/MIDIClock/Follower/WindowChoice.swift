/// Chooses how many of the newest ticks one straight line may rest on; allocates only when made.
///
/// All that is kept, unless a line that may bend or jump somewhere fits better than chance can explain (generalised
/// likelihood ratio): then only what came after, and so on. So a line rests on many ticks, and is calm, while the leader
/// is steady; and on few, the most that are true, as soon as the ticks say that something has changed.
struct WindowChoice: Sendable {
    /// The gain that chance does not explain, in variances of the noise.
    ///
    /// At 30, with independent noise, one tick in 25 000 ends a full window for nothing (measured).
    private static let leastGain = 30.0
    /// What is asked beyond that, divided by the number of ticks that are to speak for themselves.
    private static let extraGain = 25.0
    /// The fewest ticks a line rests on after a change.
    private static let least = 3.0

    /// Sums over the newest 2, 3, 4 … ticks, ever coarser.
    private var sums: [TickSums] = []

    init() { sums.reserveCapacity(64) }

    /// The line through the longest window without a change in it.
    ///
    /// - Parameters:
    ///   - ring: the ticks.
    ///   - swing: where in the beat ticks are late by intent.
    ///   - period: roughly the period; it only keeps the sums small.
    ///   - noise: of one stamp, in microseconds.
    /// - Returns: nil for fewer than two ticks.
    mutating func fit(
        _ ring: borrowing TickRing, swing: borrowing SwingPattern, near period: Double, noise: Double
    ) -> TickFit? {
        guard ring.count >= 2 else { return nil }
        addUp(ring, swing, near: period)
        var chosen = sums.count - 1
        while let shorter = change(within: chosen, variance: noise * noise) { chosen = shorter }
        return TickFit(sums[chosen], near: period)
    }

    private mutating func addUp(_ ring: borrowing TickRing, _ swing: borrowing SwingPattern, near period: Double) {
        let newest = ring[0]
        var running = TickSums()
        var next = 1
        sums.removeAll(keepingCapacity: true)
        for age in 0..<ring.count {
            let tick = ring[age]
            let x = Double(tick.number &- newest.number)
            let late = swing.lateness(of: tick.number) * period - tick.correction
            running.add(x, Double(tick.time &- newest.time) - late - x * period)
            guard age == next || age == ring.count - 1 else { continue }
            sums.append(running)
            next += max(1, next / 10)
        }
    }

    /// The window that ends where a longer one most likely bends or jumps, if it does.
    private func change(within window: Int, variance: Double) -> Int? {
        let whole = sums[window]
        guard whole.count >= 6 else { return nil }
        var best = 0.0
        var found: Int?
        for index in 0..<window {
            let newer = sums[index]
            // A bend is at the oldest tick of the window that is kept, which lies on both lines.
            let gain = max(whole.gain(newer, bendAt: newer.oldest), whole.gain(newer, bendAt: nil))
            // The fewer ticks speak for a change the more clearly they must: what follows rests on them alone.
            let excess = gain - (Self.leastGain + Self.extraGain / newer.count) * variance
            guard excess > best else { continue }
            best = excess
            found = newer.count >= Self.least ? index : nil
        }
        return found
    }
}
