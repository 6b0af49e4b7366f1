/// Notices a leader whose clock arrives twice, through two cables or subscriptions, and drops the second copies.
///
/// The distances of such ticks alternate steadily: short between the copies, long between the ticks. Two ticks in one audio
/// period are much closer together, and two in one packet at distances that vary.
struct TwinFilter: Sendable {
    /// What an arrival is.
    enum Finding {
        case tick
        /// The second copy of a tick.
        case twin
        /// A tick, but from here on only every second arrival is one; so it was for all before.
        case begins(isTwin: Bool)
    }

    /// Distance of the copies in microseconds while the clock arrives twice, else nil.
    private(set) var distance: Int64?
    private var last: Int64?
    private var gaps = InlineArray<24, Int64>(repeating: 0)
    private var count = 0
    private var expectsTwin = false
    private var missing = 0

    /// Distances of two copies, in microseconds.
    private static let distances: ClosedRange<Int64> = 250...3_500
    /// Second copies in a row that may be missing.
    private static let mostMissing = 4

    /// Processes an arrival at a time in microseconds.
    mutating func take(_ time: Int64) -> Finding {
        guard let last else {
            self.last = time
            return .tick
        }
        let gap = time &- last
        self.last = time
        if let distance { return follow(gap, distance) }
        gaps[count % gaps.count] = gap
        count += 1
        guard count >= gaps.count, let found = steadyDistance else { return .tick }
        (distance, missing) = (found, 0)
        let isTwin = gap < found * 2
        expectsTwin = !isTwin
        return .begins(isTwin: isTwin)
    }

    private mutating func follow(_ gap: Int64, _ distance: Int64) -> Finding {
        if expectsTwin, gap <= distance * 3 / 2 + 1_000 {
            (expectsTwin, missing) = (false, 0)
            return .twin
        }
        if expectsTwin {
            missing += 1
            if missing > Self.mostMissing { (self.distance, count) = (nil, 0) }
        }
        expectsTwin = self.distance != nil
        return .tick
    }

    /// The distance of copies if the last gaps alternate steadily.
    private var steadyDistance: Int64? {
        var sums = (even: Int64(0), odd: Int64(0))
        for index in gaps.indices {
            guard (0...1_000_000).contains(gaps[index]) else { return nil }
            if index % 2 == 0 { sums.even += gaps[index] } else { sums.odd += gaps[index] }
        }
        let half = Int64(gaps.count / 2)
        let (short, long) = (min(sums.even, sums.odd) / half, max(sums.even, sums.odd) / half)
        guard Self.distances.contains(short), short * 7 < long * 3 else { return nil }
        for index in gaps.indices {
            let isShort = (index % 2 == 0) == (sums.even < sums.odd)
            let isSteady =
                isShort ? abs(gaps[index] - short) <= max(150, short / 4) : abs(gaps[index] - long) <= (short + long) / 8
            guard isSteady else { return nil }
        }
        return short
    }
}
