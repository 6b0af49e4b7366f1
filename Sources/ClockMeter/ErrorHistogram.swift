internal import BeatTime

/// Counts of ticks by error, told apart to a half percent, in constant memory.
struct ErrorHistogram {
    private var early = [UInt64](repeating: 0, count: scale.count)
    private var late = [UInt64](repeating: 0, count: scale.count)
    /// Number of counted ticks.
    private(set) var count: UInt64 = 0

    /// In units of 0.1 µs; at most 13 seconds.
    private static let scale = LogBuckets(bits: 8, octaves: 27)
    private static let unit = 0.1

    /// Counts a tick with its error in microseconds, negative if early.
    mutating func record(_ error: Double) {
        let magnitude = (abs(error) / Self.unit).rounded()
        guard magnitude.isFinite else { return }
        let bucket = Self.scale.index(of: Int64(min(magnitude, 1e9)))
        if error < 0 { early[bucket] += 1 } else { late[bucket] += 1 }
        count += 1
    }

    /// Error magnitudes that given shares of all ticks do not exceed.
    ///
    /// - Parameter shares: each 0 to 1.
    /// - Returns: microseconds, in the order of the shares.
    func quantiles(_ shares: [Double]) -> [Double] {
        shares.map { share in
            let wanted = UInt64((Double(count) * share).rounded(.up))
            var seen: UInt64 = 0
            let bucket = early.indices.first { bucket in
                seen += early[bucket] + late[bucket]
                return seen >= max(1, wanted)
            }
            return bucket.map(Self.microseconds) ?? 0
        }
    }

    /// The error of the ticks in a bucket.
    private static func microseconds(_ bucket: Int) -> Double { Double(scale.upperEnd(of: bucket)) * unit }

    /// Counts in bins of equal width around 0; the outermost include what is beyond 99.9 % of all ticks.
    ///
    /// - Parameter most: most bins on each side.
    /// - Returns: bins from the earliest ticks to the latest, symmetric around 0; none if nothing is counted.
    func bins(atMost most: Int) -> [ClockFigures.Bin] {
        guard count > 0 else { return [] }
        let width = Self.niceWidth(atLeast: max(Self.unit, quantiles([0.999])[0] / Double(most)))
        let sides = max(1, min(most, Int((quantiles([0.999])[0] / width).rounded(.up))))
        var counts = [Int](repeating: 0, count: 2 * sides)
        for bucket in early.indices where early[bucket] + late[bucket] > 0 {
            let place = min(sides - 1, Int(Self.microseconds(bucket) / width))
            counts[sides - 1 - place] += Int(clamping: early[bucket])
            counts[sides + place] += Int(clamping: late[bucket])
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
