internal import Histogram

/// How many ticks came how early or late, with three significant digits, in memory that does not grow.
struct ErrorHistogram {
    private var early = Self.empty
    private var late = Self.empty

    /// A tenth of a microsecond is 1; ten seconds is the most.
    private static let empty = Histogram<UInt64>(highestTrackableValue: most)
    private static let unit = 0.1
    private static let most: UInt64 = 100_000_000

    /// Counts a tick that came so many microseconds late, early if negative.
    mutating func record(_ error: Double) {
        let magnitude = min((abs(error) / Self.unit).rounded(), Double(Self.most))
        guard magnitude.isFinite else { return }
        if error < 0 { early.record(UInt64(magnitude)) } else { late.record(UInt64(magnitude)) }
    }

    /// How many ticks are counted.
    var count: UInt64 { early.totalCount + late.totalCount }

    /// The distances from their places, early or late, that given shares of all ticks do not exceed.
    ///
    /// - Parameter shares: each 0 to 1.
    /// - Returns: microseconds, in the order of the shares.
    func quantiles(_ shares: [Double]) -> [Double] {
        var both = early
        both.add(late)
        return shares.map { Double(both.valueAtPercentile($0 * 100)) * Self.unit }
    }

    /// The counts in bins of equal width around 0; what lies beyond 99.9 % of all ticks is in the outermost.
    ///
    /// - Parameter most: the most bins on each side.
    /// - Returns: bins from the earliest ticks to the latest, as many before as after 0; none if nothing is counted.
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
