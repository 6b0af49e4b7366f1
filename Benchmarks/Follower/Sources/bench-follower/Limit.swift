import BeatTime

/// The limit of what can be known: all periods at which no tick of a window was early, or later than the coarseness.
struct Limit {
    private struct Point {
        var x, y: Double
    }

    /// Corners of the hull of the window's arrivals, below and above.
    private var (below, above): ([Point], [Point]) = ([], [])

    /// The possible periods in microseconds, from the last 384 ticks of one tempo; nil for too few.
    mutating func periods(_ stream: Stream, upTo index: Int) -> ClosedRange<Double>? {
        let newest = stream.arrivals[index]
        let first = max(stream.since[newest.number], newest.number - 383)
        (below, above) = ([], [])
        var (farthest, at) = (0.0, index)
        while at >= 0, stream.arrivals[at].number >= first {
            let arrival = stream.arrivals[at]
            farthest = Double(newest.number - arrival.number)
            add(Point(x: farthest, y: -Double(newest.time.microseconds(to: arrival.time))))
            at -= 1
        }
        guard farthest > 2 else { return nil }
        // Of the window's last ticks, so that no ramp is left out.
        let truth = stream.truth[newest.number + 1] - stream.truth[newest.number]
        let coarseness = max(stream.coarseness, width(truth)) + 2
        let reach = coarseness / farthest + 1
        return limit(truth, truth - reach, coarseness)...limit(truth, truth + reach, coarseness)
    }

    private mutating func add(_ point: Point) {
        while below.count >= 2, Self.turn(below[below.count - 2], below[below.count - 1], point) <= 0 {
            below.removeLast()
        }
        while above.count >= 2, Self.turn(above[above.count - 2], above[above.count - 1], point) >= 0 {
            above.removeLast()
        }
        below.append(point)
        above.append(point)
    }

    private static func turn(_ from: Point, _ over: Point, _ to: Point) -> Double {
        (over.x - from.x) * (to.y - from.y) - (over.y - from.y) * (to.x - from.x)
    }

    private func width(_ slope: Double) -> Double {
        var (low, high) = (Double.infinity, -Double.infinity)
        for point in below { low = min(low, point.y - slope * point.x) }
        for point in above { high = max(high, point.y - slope * point.x) }
        return high - low
    }

    private func limit(_ inside: Double, _ outside: Double, _ coarseness: Double) -> Double {
        var (good, bad) = (inside, outside)
        for _ in 0..<20 {
            let middle = (good + bad) / 2
            if width(middle) <= coarseness { good = middle } else { bad = middle }
        }
        return good
    }
}
