internal import Histogram

/// Counts of ticks by error, with three significant digits, in constant memory.
struct ErrorHistogram {
    private var early = Self.empty
    private var late = Self.empty

    /// In units of 0.1 µs; at most ten seconds.
    private static let empty = Histogram<UInt64>(highestTrackableValue: most)
    private static let unit = 0.1
    private static let most: UInt64 = 100_000_000

    /// Counts a tick with its error in microseconds, negative if early.
    mutating func record(_ error: Double) {
        let magnitude = min((abs(error) / Self.unit).rounded(), Double(Self.most))
        guard magnitude.isFinite else { return }
        if error < 0 { early.record(UInt64(magnitude)) } else { late.record(UInt64(magnitude)) }
    }

    /// Number of counted ticks.
    var count: UInt64 { early.totalCount + late.totalCount }

    /// Error magnitudes that given shares of all ticks do not exceed.
    ///
    /// - Parameter shares: each 0 to 1.
    /// - Returns: microseconds, in the order of the shares.
    func quantiles(_ shares: [Double]) -> [Double] {
        var both = early
        both.add(late)
        return shares.map { Double(both.valueAtPercentile($0 * 100)) * Self.unit }
    }

    /// Counts in bins of equal width around 0; the outermost include what is beyond 99.9 % of all ticks.
    ///
    /// - Parameter most: most bins on each side.
    /// - Returns: bins from the earliest ticks to the latest, symmetric around 0; none if nothing is counted.
    func bins(atMost most: Int) -> [ClockFigures.Bin] {
        guard count > 0 else { return [] }
        let width = Self.niceWidth(atLeast: max(Self.unit, quantiles([0.999])[0] / Double(most)))
        let sides = max(1, min(most, Int((quantiles([0.999])[0] / width).rounded(.up))))
        var counts = [Int](repeating: 0, count: 2 * sides)
        for (histogram, isLate) in [(early, false), (late, true)] {
            for value in histogram.recordedValues() {
                let place = min(sides - 1, Int(Double(value.value) * Self.unit / width))
                counts[isLate ? sides + place : sides - 1 - place] += Int(clamping: value.count)
            }
        }
        return counts.indices.map {
            ClockFigures.Bin(fromMicroseconds: Double($0 - sides) * width, microseconds: width, ticks: counts[$0])
        }
    }

    /// The next of 1, 2 and 5, times a power of ten.
    private static func niceWidth(atLeast least: Double) -> Double {
        var power = unit
        while power * 10 <= least { power *= 10 }
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= least * 0.999_999 } ?? power * 10
    }
}
