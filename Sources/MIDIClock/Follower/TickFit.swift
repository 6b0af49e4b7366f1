/// A straight line through ticks: time of the newest, and length of a tick.
///
/// Deviations are those of least squares for independent noise of 1 µs. Multiplied by the noise they are the Cramér-Rao
/// bound: `sd(period) = sqrt(12 / (n(n² - 1)))` for `n` ticks without a gap.
struct TickFit: Sendable {
    /// Number of ticks that the line is based on.
    var count: Int
    /// Microseconds from one tick to the next.
    var period: Double
    /// Microseconds from the newest tick's stamp to its time by the line.
    var phase: Double
    /// Deviation of ``period``.
    var periodDeviation: Double
    /// Deviation of ``phase``.
    var phaseDeviation: Double
    /// Deviation of the time of the tick after the newest.
    var nextDeviation: Double

    /// The least-squares line; `rough` is the period used for `y`.
    init(_ sums: TickSums, near rough: Double) {
        let (slope, intercept) = sums.line
        let mean = sums.x / sums.count
        count = Int(sums.count)
        period = rough + slope
        phase = intercept
        periodDeviation = (1 / sums.spread).squareRoot()
        phaseDeviation = (1 / sums.count + mean * mean / sums.spread).squareRoot()
        nextDeviation = (1 / sums.count + (1 - mean) * (1 - mean) / sums.spread).squareRoot()
    }
}
