/// A straight line fitted to points by least squares.
package struct LineFit: Sendable {
    package let slope: Double
    /// The mean of the points, which the line passes through.
    private let middle: (x: Double, y: Double)
    private let count: Double
    /// Sum of the squared distances of all x from their mean.
    private let width: Double
    /// Sum of the squared distances of the points from the line.
    package let squares: Double

    /// Fits a line; it is level through points that all have the same x.
    package init(_ points: some Collection<(x: Double, y: Double)>) {
        let count = Double(max(1, points.count))
        let middle = (
            x: points.reduce(0) { $0 + $1.x } / count, y: points.reduce(0) { $0 + $1.y } / count
        )
        let width = points.reduce(0) { $0 + ($1.x - middle.x) * ($1.x - middle.x) }
        let products = points.reduce(0) { $0 + ($1.x - middle.x) * ($1.y - middle.y) }
        let slope = width > 0 ? products / width : 0
        squares = points.reduce(0) { sum, point in
            let off = point.y - middle.y - slope * (point.x - middle.x)
            return sum + off * off
        }
        (self.slope, self.middle, self.count, self.width) = (slope, middle, count, width)
    }

    package func value(at x: Double) -> Double { middle.y + slope * (x - middle.x) }

    /// Standard deviation of the points from the line.
    package var deviation: Double { (squares / max(1, count - 2)).squareRoot() }

    /// Standard error of ``slope``.
    package var slopeError: Double { width > 0 ? deviation / width.squareRoot() : .infinity }

    /// Standard error of the line's value at the mean x of the points.
    package var error: Double { deviation / count.squareRoot() }

    /// How much a point at `x` moves the line there, or would as one more: 0 is not at all.
    package func leverage(of x: Double) -> Double { 1 / count + (x - middle.x) * (x - middle.x) / width }

    /// How much a point at `x` moves the slope by each unit that it is off the line.
    package func pull(of x: Double) -> Double { (x - middle.x) / (1 - leverage(of: x)) / width }

    /// Sum of the squared distances of all other x from their mean, without the point at `x`.
    package func width(without x: Double) -> Double {
        width - (x - middle.x) * (x - middle.x) * count / (count - 1)
    }
}
