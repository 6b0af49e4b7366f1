/// The strips between two parallel lines that hold all arrivals.
///
/// A tick is never early: it waits for the next audio period, packet or USB frame. So the leader's true line runs below
/// all arrivals, and no arrival is farther above it than the longest wait. The narrowest strip that holds all arrivals
/// is never wider than that wait, so its lower edge is a possible line, even if the wait is not known.
///
/// Only the corners of the arrivals' convex hull matter, so each question costs little. Allocates only in `init`.
struct DelayStrip: Sendable {
    /// An arrival, relative to the first: by number in ticks, by time in microseconds.
    struct Point: Sendable, BitwiseCopyable {
        var x, y: Double
    }

    /// Corners below and above, from left to right.
    private var below: [Point] = []
    private var above: [Point] = []
    /// The first arrival.
    private(set) var origin = StampedTick(number: 0, time: 0)

    init() {
        below.reserveCapacity(TickHistory.capacity + 1)
        above.reserveCapacity(TickHistory.capacity + 1)
    }

    /// Replaces the arrivals by some of a leader's ticks, without those that are set aside unless they are wanted.
    mutating func take(_ ticks: ArraySlice<StampedTick>, includingAside: Bool = false) {
        below.removeAll(keepingCapacity: true)
        above.removeAll(keepingCapacity: true)
        for tick in ticks where includingAside || !tick.isAside { add(tick) }
    }

    /// Adds an arrival after all others.
    mutating func add(_ tick: StampedTick) {
        if below.isEmpty { origin = tick }
        let point = Point(x: Double(tick.number &- origin.number), y: Double(tick.time &- origin.time))
        if let last = above.last, last.x >= point.x { return }
        while below.count >= 2, Self.turn(below[below.count - 2], below[below.count - 1], point) <= 0 {
            below.removeLast()
        }
        while above.count >= 2, Self.turn(above[above.count - 2], above[above.count - 1], point) >= 0 {
            above.removeLast()
        }
        below.append(point)
        above.append(point)
    }

    /// How much later a tick came than a slope has it, in microseconds, counted from the first arrival.
    func lateness(_ tick: StampedTick, _ slope: Double) -> Double {
        Double(tick.time &- origin.time) - slope * Double(tick.number &- origin.number)
    }

    /// Above zero for a turn to the left.
    private static func turn(_ from: Point, _ over: Point, _ to: Point) -> Double {
        (over.x - from.x) * (to.y - from.y) - (over.y - from.y) * (to.x - from.x)
    }

    /// The strip of a slope: where its edges are at the first arrival, in microseconds after it.
    func edges(_ slope: Double) -> (low: Double, high: Double) {
        var low = Double.infinity
        var high = -Double.infinity
        for point in below { low = min(low, point.y - slope * point.x) }
        for point in above { high = max(high, point.y - slope * point.x) }
        return (low, high)
    }

    /// The narrowest strip: its slope in microseconds per tick, and its width; zeros for less than two arrivals.
    var narrowest: (slope: Double, width: Double) {
        var best = (slope: 0.0, width: Double.infinity)
        walk { piece in
            if let end = piece.end, piece.width(end) < best.width { best = (end, piece.width(end)) }
        }
        return best.width < .infinity ? best : (0, 0)
    }

    /// The slopes whose strips are no wider than this; `inside` must be one of them.
    func slopes(within width: Double, around inside: Double) -> ClosedRange<Double> {
        var (least, most) = (inside, inside)
        walk { piece in
            let bound = (piece.rise - width) / piece.run
            if piece.run > 0, piece.start.map({ piece.width($0) > width }) ?? true,
                piece.end.map({ piece.width($0) <= width }) ?? true
            {
                least = bound
            }
            if piece.run < 0, piece.start.map({ piece.width($0) <= width }) ?? true,
                piece.end.map({ piece.width($0) > width }) ?? true
            {
                most = bound
            }
        }
        return min(least, inside)...max(most, inside)
    }

    /// A range of slopes for which the same two arrivals are at the edges of the strip.
    private struct Piece {
        /// From the arrival at the lower edge to that at the upper one.
        var run, rise: Double
        /// Nil without a limit.
        var start, end: Double?

        /// The width of the strip of a slope in the range.
        func width(_ slope: Double) -> Double { rise - slope * run }
    }

    /// Goes through all slopes from the least to the greatest; the width of the strip is a convex function of them.
    private func walk(_ visit: (Piece) -> Void) {
        guard above.count > 1 else { return }
        var (low, high) = (0, above.count - 1)
        var start: Double?
        while true {
            // The slopes at which the next arrival comes to the edge below, and above.
            let nextBelow = low + 1 < below.count ? Self.slope(below[low], below[low + 1]) : .infinity
            let nextAbove = high > 0 ? Self.slope(above[high - 1], above[high]) : .infinity
            let end = min(nextBelow, nextAbove)
            let (from, to) = (below[low], above[high])
            let isLast = end == .infinity
            visit(Piece(run: to.x - from.x, rise: to.y - from.y, start: start, end: isLast ? nil : end))
            guard !isLast else { return }
            start = end
            if nextBelow <= nextAbove { low += 1 } else { high -= 1 }
        }
    }

    private static func slope(_ left: Point, _ right: Point) -> Double { (right.y - left.y) / (right.x - left.x) }
}
