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
        /// From here on only every second arrival is a tick; so it was for so many arrivals before this one.
        ///
        /// The first of those may have been a single tick, before the first that came twice.
        case begins(isTwin: Bool, arrivals: Int64, isFirstSingle: Bool)
    }

    /// Distance of the copies in microseconds while the clock arrives twice, else nil.
    private(set) var distance: Int64?
    private var last: Int64?
    private var gaps = InlineArray<24, Int64>(repeating: 0)
    private var count = 0
    /// How many gaps have been short and long by turns until now, and whether the newest is a long one.
    private var turns = (count: Int64(0), isLong: false)
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
        noteTurn(gap)
        gaps[count % gaps.count] = gap
        count += 1
        guard count >= gaps.count, let found = steady else { return .tick }
        (distance, missing) = (found.distance, 0)
        expectsTwin = !found.endsWithTwin
        let isFirstLong = turns.isLong == (turns.count % 2 == 1)
        return .begins(isTwin: found.endsWithTwin, arrivals: turns.count, isFirstSingle: isFirstLong)
    }

    private mutating func noteTurn(_ gap: Int64) {
        guard count > 0 else { return turns = (1, false) }
        let former = gaps[(count - 1) % gaps.count]
        let isTurn = former < gap / 2 || gap < former / 2
        let isLong = former < gap
        turns = (isTurn && (turns.count == 1 || isLong != turns.isLong) ? turns.count + 1 : 1, isLong)
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

    /// The distance of copies if the last gaps alternate steadily, and whether the newest gap is one before a copy.
    private var steady: (distance: Int64, endsWithTwin: Bool)? {
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
            let (mean, tolerance) = isShort ? (short, max(150, short / 4)) : (long, (short + long) / 8)
            guard abs(gaps[index] - mean) <= tolerance else { return nil }
        }
        return (short, ((count - 1) % 2 == 0) == (sums.even < sums.odd))
    }
}
