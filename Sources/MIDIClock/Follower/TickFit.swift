/// A straight line through ticks: when the newest fell and how long a tick lasts.
///
/// Deviations are those of least squares for independent noise of one microsecond; times the noise they are the
/// Cramér-Rao bound: `sd(period) = sqrt(12 / (n(n² - 1)))` for `n` ticks without a gap.
struct TickFit: Sendable {
    /// How many ticks the line rests on.
    var count: Int
    /// Microseconds from one tick to the next.
    var period: Double
    /// Microseconds from the newest tick's stamp to the time the line gives it.
    var phase: Double
    /// Of ``period``.
    var periodDeviation: Double
    /// Of ``phase``.
    var phaseDeviation: Double
    /// Of the time the line gives the tick after the newest.
    var nextDeviation: Double

    /// The least-squares line; `rough` is the period that `y` was taken against.
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
