/// Sums for least squares over ticks.
///
/// `x` counts ticks from one of them. `y` is a stamp's distance from a rough line, in microseconds.
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

    /// Sums over nothing.
    package init() {}

    /// Adds a tick.
    package mutating func add(_ atX: Double, _ atY: Double) {
        count += 1
        x += atX
        xx += atX * atX
        y += atY
        xy += atX * atY
    }

    /// Sum of squares of `x` around its mean; never zero.
    package var spread: Double { max(xx - x * x / count, .leastNormalMagnitude) }

    /// The least-squares line in `x` and `y`; needs at least two ticks.
    package var line: (slope: Double, intercept: Double) {
        let slope = (xy - x * y / count) / spread
        return (slope, (y - slope * x) / count)
    }
}
