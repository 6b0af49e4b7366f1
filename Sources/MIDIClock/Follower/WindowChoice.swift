/// Chooses how many of the newest ticks to fit one line to; allocates only in `init`.
///
/// It uses all stored ticks, unless a line with a bend or jump fits better than chance can explain (generalized
/// likelihood ratio). Then it uses only the ticks after that place, and so on. While the leader is steady the line
/// rests on many ticks and is calm. After a change it rests on the few that follow it.
struct WindowChoice: Sendable {
    /// Smallest gain that chance does not explain, in variances of the noise.
    ///
    /// At 30, with independent noise, one tick in 25 000 wrongly ends a full window (measured).
    private static let leastGain = 30.0
    /// Additional gain required, divided by the number of ticks after the change.
    private static let extraGain = 25.0
    /// Fewest ticks after a change.
    private static let least = 3.0

    /// Sums over the newest 2, 3, 4 … ticks, in growing steps.
    private var sums: [TickSums] = []

    init() { sums.reserveCapacity(64) }

    /// The line through the longest window without a change.
    ///
    /// - Parameters:
    ///   - ring: the ticks.
    ///   - swing: known delays by swing.
    ///   - period: approximate period, to keep the sums small.
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

    /// The shorter window that starts where a longer one most likely bends or jumps; nil if it does not.
    private func change(within window: Int, variance: Double) -> Int? {
        let whole = sums[window]
        guard whole.count >= 6 else { return nil }
        var best = 0.0
        var found: Int?
        for index in 0..<window {
            let newer = sums[index]
            // A bend is at the oldest tick of the shorter window, which is on both lines.
            let gain = max(whole.gain(newer, bendAt: newer.oldest), whole.gain(newer, bendAt: nil))
            // The fewer ticks indicate a change, the clearer it must be, because the line will rest on them alone.
            let excess = gain - (Self.leastGain + Self.extraGain / newer.count) * variance
            guard excess > best else { continue }
            best = excess
            found = newer.count >= Self.least ? index : nil
        }
        return found
    }
}
