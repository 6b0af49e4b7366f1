/// A straight line fitted to points by least squares.
struct LineFit {
    let slope: Double
    /// Standard deviation of the points from the line.
    let deviation: Double
    /// Standard error of ``slope``.
    let slopeError: Double
    /// Standard error of the line's value at the mean x of the points.
    let error: Double
    /// The mean of the points, which the line passes through.
    private let middle: (x: Double, y: Double)

    init(_ points: [(x: Double, y: Double)]) {
        let count = Double(max(1, points.count))
        let middle = (
            x: points.reduce(0) { $0 + $1.x } / count, y: points.reduce(0) { $0 + $1.y } / count
        )
        let squares = points.reduce(0) { $0 + ($1.x - middle.x) * ($1.x - middle.x) }
        let products = points.reduce(0) { $0 + ($1.x - middle.x) * ($1.y - middle.y) }
        let slope = squares > 0 ? products / squares : 0
        let rest = points.reduce(0) { sum, point in
            let off = point.y - middle.y - slope * (point.x - middle.x)
            return sum + off * off
        }
        self.middle = middle
        self.slope = slope
        deviation = (rest / max(1, count - 2)).squareRoot()
        slopeError = squares > 0 ? deviation / squares.squareRoot() : .infinity
        error = deviation / count.squareRoot()
    }

    func value(at x: Double) -> Double { middle.y + slope * (x - middle.x) }
}

/// The median of the values; 0 if there are none.
func median(_ values: [Double]) -> Double {
    guard !values.isEmpty else { return 0 }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// A standard deviation that a few outliers hardly change.
///
/// It is 1.48 times the median distance from the median, which is the standard deviation of a normal distribution.
func robustDeviation(_ values: [Double]) -> Double {
    let middle = median(values)
    return 1.4826 * median(values.map { abs($0 - middle) })
}
