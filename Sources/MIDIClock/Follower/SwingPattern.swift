/// Swing in a leader's clock: delays that repeat every half beat or beat.
///
/// It is learned when such a pattern explains the stamps of four cycles, and no straight line does. The follower's line
/// then goes through the earliest places of the cycle, where the straight beat is. Allocates only in `init`.
struct SwingPattern: Sendable {
    /// Ticks in a cycle: 12, 24, or 0 for none.
    private(set) var cycle = 0
    /// Delay of each place in the cycle, in periods; the smallest is 0.
    private var late: [Double] = Array(repeating: 0, count: longest)
    private var xs: [Double] = Array(repeating: 0, count: longest)
    private var ys: [Double] = Array(repeating: 0, count: longest)

    /// How often in a row a very different pattern was found.
    private var contradictions = 0

    private static let longest = 24
    /// How much better than chance (Fisher's F) a pattern must explain the stamps.
    private static let leastEvidence = 6.0
    private static let repeats = 4

    /// Delay of a tick by swing, in periods, at least 0.
    func lateness(of number: Int64) -> Double { cycle == 0 ? 0 : late[place(number, cycle)] }

    /// Looks for a pattern in the newest arrivals, and checks whether the known one has ended.
    ///
    /// It uses the order of arrival, not the numbers, because unknown swing can look like lost ticks.
    ///
    /// - Parameters:
    ///   - ring: the ticks.
    ///   - period: approximate period in microseconds.
    ///   - noise: of one stamp, in microseconds.
    /// - Returns: number of arrivals with the pattern, if a new one was found.
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

    /// Adopts the pattern found; a known one is only refined, unless another is found repeatedly.
    ///
    /// A single very late tick is seen for four cycles, and must not change the known pattern by more than its noise.
    ///
    /// - Returns: whether no pattern was known.
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

    /// Fits a straight line, and a line with a repeating pattern, to the newest cycles.
    ///
    /// - Returns: the mean squared residuals of both, and what the second line adds to the rough period. The pattern is
    ///   in `ys` afterwards.
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
