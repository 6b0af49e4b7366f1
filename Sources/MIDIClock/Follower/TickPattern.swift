/// What the newest ticks of a clock look like.
///
/// ```swift
/// var follower = ClockFollower()
/// for tick: Int64 in 0..<96 { follower.received(.timingClock, at: HostTime(microseconds: tick * 1_000)) }
/// assert(follower.pattern == .tooMany(perSecond: 1_000))
/// ```
public enum TickPattern: Hashable, Sendable, BitwiseCopyable {
    /// Too few ticks to tell.
    case few
    /// Ticks as of a clock.
    case steady
    /// More ticks than the fastest tempo has.
    case tooMany(perSecond: Int)
    /// Fewer ticks than the slowest tempo has; every so many microseconds.
    case single(every: Int64)
    /// Several together, every so many microseconds, as from radio packets or audio periods.
    case groups(every: Int64)
    /// Many together, with pauses in which no clock would be silent; every so many microseconds.
    case bursts(every: Int64)
    /// At distances of so many microseconds, without an order.
    case irregular(shortest: Int64, longest: Int64)

    /// Ticks that are looked at.
    private static let newest = 49

    init(_ history: borrowing TickHistory) {
        let count = min(history.count, Self.newest)
        guard count >= 3 else {
            self = .few
            return
        }
        let gaps = (0..<count - 1).map { history[$0].time &- history[$0 + 1].time }.sorted()
        let length = history[0].time &- history[count - 1].time
        let mean = Double(length) / Double(count - 1)
        // A gap much shorter than the mean is within a group.
        let apart = gaps.drop { Double($0) < 0.5 * mean }
        let every = apart.isEmpty ? 0 : apart[apart.startIndex + apart.count / 2]
        let isGrouped = gaps.count - apart.count >= gaps.count / 8 && count >= 12
        self =
            if isGrouped, Double(every) > TickTracker.mostCoarse {
                .bursts(every: every)
            } else if mean < TickTracker.plausiblePeriods.lowerBound {
                .tooMany(perSecond: Int(1_000_000 / max(mean, 1)))
            } else if Double(gaps[gaps.count / 2]) > TickTracker.plausiblePeriods.upperBound {
                .single(every: gaps[gaps.count / 2])
            } else if count < 12 {
                .few
            } else if isGrouped, gaps[gaps.count / 20] < every / 4 {
                .groups(every: every)
            } else if gaps[gaps.count - 1] > 2 * max(1, gaps[0]) {
                .irregular(shortest: gaps[0], longest: gaps[gaps.count - 1])
            } else {
                .steady
            }
    }
}
