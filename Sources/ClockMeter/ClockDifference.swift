internal import MIDIClock

/// How much later one machine is than another, beat by beat.
///
/// Each tick or sound of the first is compared with the nearest of the second, if that is within half an interval. A
/// difference of whole intervals cannot be seen.
package struct ClockDifference: Hashable, Sendable, Encodable {
    /// Number of those with a counterpart.
    package var matched: Int
    /// Number of those, of either machine, without one.
    package var unmatched: Int
    /// Median difference; positive if the first is later.
    package var medianMicroseconds: Double
    /// Standard deviation, robust against outliers (1.48 times the median absolute deviation).
    package var deviationMicroseconds: Double
    package var leastMicroseconds: Double
    package var greatestMicroseconds: Double
    /// Growth of the difference, in microseconds per minute.
    package var growthMicrosecondsPerMinute: Double
    /// All differences, or the newest of them.
    package var differences: [Difference]

    package struct Difference: Hashable, Sendable, Encodable {
        /// When the first machine's was.
        package var second: Double
        package var microseconds: Double
    }

    /// Most differences that are kept.
    private static let kept = 10_000

    /// Compares; nil if nothing matches.
    ///
    /// - Parameters:
    ///   - times: of the first machine, in order, in microseconds.
    ///   - others: of the second, by the same clock.
    package init?(_ times: [Double], against others: [Double]) {
        guard times.count > 1, others.count > 1 else { return nil }
        let reach = min(Self.interval(times), Self.interval(others)) / 2
        var pairs: [(time: Double, difference: Double)] = []
        var index = 0
        for time in times {
            while index + 1 < others.count, abs(others[index + 1] - time) <= abs(others[index] - time) { index += 1 }
            if abs(others[index] - time) < reach { pairs.append((time, time - others[index])) }
        }
        guard let first = pairs.first else { return nil }
        let sorted = pairs.map(\.difference).sorted()
        let median = Self.median(sorted)
        let deviations = sorted.map { abs($0 - median) }.sorted()
        matched = pairs.count
        unmatched = times.count + others.count - 2 * pairs.count
        medianMicroseconds = median
        deviationMicroseconds = 1.4826 * Self.median(deviations)
        leastMicroseconds = sorted[0]
        greatestMicroseconds = sorted[sorted.count - 1]
        var sums = TickSums()
        for pair in pairs { sums.add((pair.time - first.time) / 60_000_000, pair.difference) }
        growthMicrosecondsPerMinute = pairs.count > 2 ? sums.line.slope : 0
        differences = pairs.suffix(Self.kept).map {
            Difference(second: $0.time / 1_000_000, microseconds: $0.difference)
        }
    }

    private static func interval(_ times: [Double]) -> Double {
        median(zip(times.dropFirst(), times).map { $0 - $1 }.sorted())
    }

    private static func median(_ sorted: [Double]) -> Double {
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
