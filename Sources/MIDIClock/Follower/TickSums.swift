/// Sums for least squares over the newest ticks of a ring.
///
/// `x` counts ticks back from the newest. `y` is a stamp's distance from a rough line, in microseconds.
package struct TickSums: Sendable {
    /// Number of ticks.
    package private(set) var count = 0.0
    /// Sum of `x`.
    package private(set) var x = 0.0
    /// Sum of `x` squared.
    package private(set) var xx = 0.0
    /// Sum of `y`.
    package private(set) var y = 0.0
    /// Sum of the products.
    package private(set) var xy = 0.0
    /// The `x` of the oldest tick.
    private(set) var oldest = 0.0

    /// Sums over nothing.
    package init() {}

    /// Adds a tick.
    package mutating func add(_ atX: Double, _ atY: Double) {
        count += 1
        x += atX
        xx += atX * atX
        y += atY
        xy += atX * atY
        oldest = atX
    }

    /// Sum of squares of `x` around its mean; never zero.
    package var spread: Double { max(xx - x * x / count, .leastNormalMagnitude) }

    /// The least-squares line in `x` and `y`; needs at least two ticks.
    package var line: (slope: Double, intercept: Double) {
        let slope = (xy - x * y / count) / spread
        return (slope, (y - slope * x) / count)
    }

    /// How much better a line fits if it may bend or jump at one place.
    ///
    /// - Parameters:
    ///   - newer: the sums of the ticks newer than the bend.
    ///   - bend: `x` of the tick where the line bends; nil for a jump just before the oldest of the newer ones.
    /// - Returns: reduction of the sum of squared residuals. Without a bend or jump, and with noise of variance s², it
    ///   is s² times a chi-square of one degree of freedom.
    func gain(_ newer: TickSums, bendAt bend: Double?) -> Double {
        // The regressor of a bend is x - bend on the newer ticks, that of a jump is 1; both are 0 on the older ones.
        let sum: Double
        let onX: Double
        let square: Double
        let onY: Double
        if let bend {
            sum = newer.x - bend * newer.count
            onX = newer.xx - bend * newer.x
            square = onX - bend * sum
            onY = newer.xy - bend * newer.y
        } else {
            sum = newer.count
            onX = newer.x
            square = newer.count
            onY = newer.y
        }
        let (slope, intercept) = line
        let mean = x / count
        let across = onX - mean * sum
        let free = square - sum * sum / count - across * across / spread
        guard free > 1e-6 * square else { return 0 }
        let rest = onY - intercept * sum - slope * onX
        return rest * rest / free
    }
}
