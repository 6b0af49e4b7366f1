/// Distances of arrivals from our ticks, without their common offset and drift.
///
/// Nothing here depends on a probe's tosses, which makes it a fair basis for bets.
struct Residuals: Sendable {
    /// An arrival.
    struct Arrival: Sendable {
        /// Our tick that it belongs to.
        var tick: Int64
        /// Microseconds from that tick to the arrival.
        var distance: Double
    }

    private(set) var arrivals: [Arrival] = []

    var count: Int { arrivals.count }

    mutating func append(_ arrival: Arrival) { arrivals.append(arrival) }

    mutating func removeAll() { arrivals.removeAll(keepingCapacity: true) }

    /// Subtracts the best straight line from the distances.
    ///
    /// Outliers are limited before the fit, and stay limited.
    ///
    /// - Parameter expected: the deviation that is still no outlier, in microseconds.
    /// - Returns: the rest in microseconds, in order of arrival.
    func straightened(expected: Double) -> [Double] {
        let first = Line(arrivals.indices.map { (time(of: $0), arrivals[$0].distance) })
        let rough = arrivals.indices.map { arrivals[$0].distance - first.value(at: time(of: $0)) }
        let bound = max(2 * expected, 4.5 * Self.median(of: rough.map { abs($0) }))
        let tame = arrivals.indices.map { index in
            (time(of: index), first.value(at: time(of: index)) + min(max(rough[index], -bound), bound))
        }
        let line = Line(tame)
        return tame.map { min(max($0.1 - line.value(at: $0.0), -bound), bound) }
    }

    private func time(of index: Int) -> Double { Double(arrivals[index].tick &- arrivals[0].tick) }

    private static func median(of values: [Double]) -> Double {
        values.isEmpty ? 0 : values.sorted()[values.count / 2]
    }

    /// A straight line fitted to points.
    private struct Line {
        private var origin = 0.0
        private var height = 0.0
        private var slope = 0.0

        init(_ points: [(Double, Double)]) {
            guard !points.isEmpty else { return }
            let count = Double(points.count)
            origin = points.reduce(0) { $0 + $1.0 } / count
            height = points.reduce(0) { $0 + $1.1 } / count
            let spread = points.reduce(0) { $0 + ($1.0 - origin) * ($1.0 - origin) }
            guard spread > 0 else { return }
            slope = points.reduce(0) { $0 + ($1.0 - origin) * ($1.1 - height) } / spread
        }

        func value(at time: Double) -> Double { height + slope * (time - origin) }
    }
}

/// The natural logarithm of a positive number, the same on every machine.
func logarithm(_ value: Double) -> Double {
    // Scale the significand, 1 to 2, around 1, where the series converges fast.
    let isLarge = value.significand > 1.4142135623730951
    let significand = isLarge ? value.significand / 2 : value.significand
    let ratio = (significand - 1) / (significand + 1)
    var sum = 0.0
    for term in stride(from: 21.0, to: 0, by: -2) { sum = sum * ratio * ratio + 1 / term }
    return 2 * ratio * sum + Double(value.exponent + (isLarge ? 1 : 0)) * 0.6931471805599453
}
