/// The last few arrivals as they came, whatever was made of them.
struct RecentArrivals: Sendable {
    private static let capacity = 16
    /// How many must be alike to be a clock of their own.
    static let regular = 5

    private var arrivals: [(time: Int64, number: Int64)] = []

    init() { arrivals.reserveCapacity(Self.capacity) }

    /// Takes in an arrival and the number it had if it was the tick due.
    mutating func append(_ time: Int64, number: Int64) {
        if arrivals.count == Self.capacity { arrivals.removeFirst() }
        arrivals.append((time, number))
    }

    /// The interval of the newest arrivals when they are a clock of their own.
    ///
    /// - Parameter noise: of one stamp, in microseconds; they are alike within a tenth, or what noise explains.
    /// - Returns: their mean interval in microseconds, or nil when they are not alike.
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

    /// Counts each of the newest as a tick, back to where an interval is not `period` any more but rather `former`, and
    /// forgets those before.
    mutating func count(each period: Double, not former: Double) {
        var first = arrivals.count - Self.regular
        let tolerance = max(0.45 * period, 0.5 * abs(former - period))
        while first > 0, abs(interval(before: first) - period) < tolerance { first -= 1 }
        arrivals.removeFirst(first)
        for index in arrivals.indices { arrivals[index].number = oldest.number &+ Int64(index) }
    }

    /// All that are kept, oldest first.
    var all: [(time: Int64, number: Int64)] { arrivals }

    /// The oldest; there must be one.
    var oldest: (time: Int64, number: Int64) { arrivals[0] }
    /// The newest; there must be one.
    var newest: (time: Int64, number: Int64) { arrivals[arrivals.count - 1] }

    private func interval(before index: Int) -> Double {
        Double(arrivals[index].time &- arrivals[index - 1].time)
    }
}
