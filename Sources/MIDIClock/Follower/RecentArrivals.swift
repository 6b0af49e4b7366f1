/// The last few arrivals, whether they counted as ticks or not.
struct RecentArrivals: Sendable {
    private static let capacity = 16
    /// Number of evenly spaced arrivals that make a clock.
    static let regular = 5

    private var arrivals: [(time: Int64, number: Int64)] = []

    init() { arrivals.reserveCapacity(Self.capacity) }

    /// Adds an arrival, with its number if it was the expected tick.
    mutating func append(_ time: Int64, number: Int64) {
        if arrivals.count == Self.capacity { arrivals.removeFirst() }
        arrivals.append((time, number))
    }

    /// The interval of the newest arrivals, if they are evenly spaced.
    ///
    /// - Parameter noise: error of one timestamp, in microseconds. Intervals may differ by 10 %, or by what noise explains.
    /// - Returns: the mean interval in microseconds; nil if they are not even.
    func regularPeriod(noise: Double) -> Double? {
        guard arrivals.count >= Self.regular else { return nil }
        let last = arrivals.count - 1
        let first = last - (Self.regular - 1)
        let mean = Double(arrivals[last].time &- arrivals[first].time) / Double(Self.regular - 1)
        guard TickTracker.plausiblePeriod.contains(mean) else { return nil }
        let tolerance = max(0.1 * mean, min(3 * noise, 0.35 * mean))
        for index in (first + 1)...last where abs(interval(before: index) - mean) >= tolerance { return nil }
        return mean
    }

    /// Numbers the newest arrivals as successive ticks, and forgets all older ones.
    ///
    /// It goes back to the first interval that is too far from `period`, because it belongs to the tempo `former`.
    mutating func count(each period: Double, not former: Double) {
        var first = arrivals.count - Self.regular
        let tolerance = max(0.45 * period, 0.5 * abs(former - period))
        while first > 0, abs(interval(before: first) - period) < tolerance { first -= 1 }
        arrivals.removeFirst(first)
        for index in arrivals.indices { arrivals[index].number = oldest.number &+ Int64(index) }
    }

    /// All stored arrivals, oldest first.
    var all: [(time: Int64, number: Int64)] { arrivals }

    /// The oldest arrival; there must be at least one.
    var oldest: (time: Int64, number: Int64) { arrivals[0] }
    /// The newest arrival; there must be at least one.
    var newest: (time: Int64, number: Int64) { arrivals[arrivals.count - 1] }

    private func interval(before index: Int) -> Double {
        Double(arrivals[index].time &- arrivals[index - 1].time)
    }
}
