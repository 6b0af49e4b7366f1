/// Sums over the ticks that a line is drawn through.
struct ResidualSums {
    private var sums = TickSums()
    private var squares = 0.0
    /// Number of distances of two ticks within 35 % of the period, as with swing, and the squares of their differences from it.
    private var regular = 0.0
    private var gapSquares = 0.0
    /// Greatest difference of a distance of two ticks from the period, in microseconds.
    private(set) var longestJump = 0.0

    /// - Parameters:
    ///   - ticks: those set aside are left out.
    ///   - slope: about the ticks' period, in microseconds.
    init(_ ticks: ArraySlice<StampedTick>, near slope: Double) {
        guard let first = ticks.first else { return }
        var last: StampedTick?
        for tick in ticks where !tick.isAside {
            let x = Double(tick.number &- first.number)
            let y = Double(tick.time &- first.time) - slope * x
            sums.add(x, y)
            squares += y * y
            if let last, tick.number &- last.number == 1 {
                let gap = Double(tick.time &- last.time) - slope
                if abs(gap) <= 0.35 * slope { regular += 1 }
                gapSquares += gap * gap
                longestJump = max(longestJump, abs(gap))
            }
            last = tick
        }
    }

    var count: Double { sums.count }
    var spread: Double { sums.spread }
    var meanX: Double { sums.x / sums.count }
    /// The slope of least squares, to be added to the one given.
    var slope: Double { sums.line.slope }

    /// Standard deviation from the line of least squares.
    var deviation: Double {
        let (slope, intercept) = sums.line
        return (max(0, squares - intercept * sums.y - slope * sums.xy) / sums.count).squareRoot()
    }

    /// The line of a slope through the middle of the ticks: its time at the first tick.
    func mean(_ slope: Double, near rough: Double) -> Double { sums.y / sums.count - (slope - rough) * meanX }

    /// Whether distances are mostly one period, or vary without ever adding up, as no random ones do.
    func isRegular(_ slope: Double, width: Double) -> Bool {
        regular >= 0.75 * (count - 1) || width * width < 0.16 * gapSquares
    }
}
