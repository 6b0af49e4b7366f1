/// Lateness that a leader gives its ticks by intent and repeats every half beat or beat: swing inside the clock.
///
/// Learned when the stamps of four cycles are explained by such a pattern and by no straight line. The follower's line
/// then goes through the earliest places of the cycle, where the straight beat is. Allocates only when made.
struct SwingPattern: Sendable {
    /// Ticks after which it repeats: 12, 24, or 0 for none.
    private(set) var cycle = 0
    /// Per place in the cycle, in periods; the least is 0.
    private var late: [Double] = Array(repeating: 0, count: longest)
    private var xs: [Double] = Array(repeating: 0, count: longest)
    private var ys: [Double] = Array(repeating: 0, count: longest)

    /// How often in a row quite another pattern was found.
    private var contradictions = 0

    private static let longest = 24
    /// How many times better than chance (Fisher's F) a pattern must explain the stamps.
    private static let leastEvidence = 6.0
    private static let repeats = 4

    /// How late a tick is sent, in periods, at least 0.
    func lateness(of number: Int64) -> Double { cycle == 0 ? 0 : late[place(number, cycle)] }

    /// Looks for a pattern in the newest arrivals, or whether the one known is gone.
    ///
    /// It goes by the order of arrival, not by the numbers: a swing that is not known yet can look like lost ticks.
    ///
    /// - Parameters:
    ///   - ring: the ticks.
    ///   - period: roughly the period in microseconds.
    ///   - noise: of one stamp, in microseconds.
    /// - Returns: how many arrivals have the pattern, if none was known and one was found.
    mutating func learn(_ ring: borrowing TickRing, near period: Double, noise: Double) -> Int? {
        for length in [12, 24] {
            let count = length * Self.repeats
            guard ring.count >= count else { return nil }
            let (straight, folded, trend) = residuals(ring, cycle: length, near: period)
            let freedom = Double(count - length - 1) / Double(count)
            let evidence = (straight - folded) / Double(length) * Double(count) / max(folded / freedom, 1)
            if evidence > Self.leastEvidence, folded < straight / 4 {
                return take(length, period: period + trend, noise: noise) ? count : nil
            }
            if length == cycle, straight < 3 * noise * noise { cycle = 0 }
        }
        return nil
    }

    /// Takes in the pattern found; one that is known already is only refined, unless another is found again and again.
    ///
    /// A single tick that is very late is seen for four cycles, and must not bend what is known by more than its noise.
    ///
    /// - Returns: whether none was known.
    private mutating func take(_ length: Int, period: Double, noise: Double) -> Bool {
        let least = ys[..<length].min() ?? 0
        for place in 0..<length { ys[place] = (ys[place] - least) / period }
        let change = (0..<length).reduce(0) { max($0, abs(ys[$1] - late[$1])) } * period
        contradictions = length == cycle && change > 4 * noise ? contradictions + 1 : 0
        let isNew = length != cycle || contradictions > Self.repeats
        for place in 0..<length {
            let step = ys[place] - late[place]
            late[place] += isNew ? step : max(-noise / period, min(step / 4, noise / period))
        }
        if isNew { contradictions = 0 }
        defer { cycle = length }
        return cycle == 0
    }

    private func place(_ number: Int64, _ cycle: Int) -> Int {
        let rest = Int(truncatingIfNeeded: number % Int64(cycle))
        return rest < 0 ? rest + cycle : rest
    }

    /// Mean squares of what a straight line, and a line with a pattern, leave of the newest cycles; the pattern is in
    /// `ys` afterwards, its period is `trend` more than the rough one.
    private mutating func residuals(
        _ ring: borrowing TickRing, cycle: Int, near period: Double
    ) -> (straight: Double, folded: Double, trend: Double) {
        let count = cycle * Self.repeats
        let oldest = ring[count - 1].number
        for place in 0..<cycle { (xs[place], ys[place]) = (0, 0) }
        var sums = TickSums()
        var square = 0.0
        for age in 0..<count {
            let tick = ring[age]
            let x = -Double(age)
            let y = Double(tick.time &- ring[0].time) - x * period
            sums.add(x, y)
            square += y * y
            let place = place(oldest &+ Int64(count - 1 - age), cycle)
            xs[place] += x / Double(Self.repeats)
            ys[place] += y / Double(Self.repeats)
        }
        var within = (xx: 0.0, xy: 0.0, yy: 0.0)
        for age in 0..<count {
            let tick = ring[age]
            let place = place(oldest &+ Int64(count - 1 - age), cycle)
            let x = -Double(age) - xs[place]
            let y = Double(tick.time &- ring[0].time) + Double(age) * period - ys[place]
            within = (within.xx + x * x, within.xy + x * y, within.yy + y * y)
        }
        let slope = within.xy / within.xx
        for place in 0..<cycle { ys[place] -= slope * xs[place] }
        let (straightSlope, intercept) = sums.line
        let straight = square - intercept * sums.y - straightSlope * sums.xy
        return (max(0, straight) / Double(count), max(0, within.yy - slope * within.xy) / Double(count), slope)
    }
}
