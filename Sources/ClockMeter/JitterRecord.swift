/// Statistics of a steady clock's tick errors.
struct JitterRecord {
    private(set) var histogram = ErrorHistogram()
    private(set) var trace = DeviationTrace()
    private var errors = Moments()
    private var intervals = Moments()
    private var changes = Moments()
    /// Degrees of freedom used by the fitted lines, two each.
    private var freedoms = 0.0
    private var meanInterval = 0.0
    private var longest = -Double.infinity
    private var shortest = Double.infinity

    /// Sums of squares and the largest magnitude.
    private struct Moments {
        var count = 0.0
        var squares = 0.0
        var largest = 0.0

        mutating func add(_ value: Double) {
            count += 1
            squares += value * value
            largest = max(largest, abs(value))
        }

        func deviation(freedoms: Double = 0) -> Double { (squares / max(1, count - freedoms)).squareRoot() }
    }

    /// Adds a block.
    ///
    /// - Parameters:
    ///   - block: of a steady clock.
    ///   - before: the ticks just before it, if it continues them; at most two are used.
    mutating func add(_ block: TickBlock, after before: ArraySlice<Tick>) {
        freedoms += 2
        for tick in block.ticks {
            let error = block.error(of: tick)
            errors.add(error)
            histogram.record(error)
        }
        let ticks = before.suffix(2) + block.ticks
        for index in ticks.indices.dropFirst() where ticks[index].number &- ticks[index - 1].number == 1 {
            // An interval belongs to the block of its later tick.
            guard index - ticks.startIndex >= before.suffix(2).count else { continue }
            let interval = Double(ticks[index].time &- ticks[index - 1].time)
            take(interval, deviation: interval - block.period, at: ticks[index].time)
            guard index - 2 >= ticks.startIndex, ticks[index - 1].number &- ticks[index - 2].number == 1 else {
                continue
            }
            changes.add(interval - Double(ticks[index - 1].time &- ticks[index - 2].time))
        }
    }

    private mutating func take(_ interval: Double, deviation: Double, at time: Int64) {
        intervals.add(deviation)
        meanInterval += (interval - meanInterval) / intervals.count
        longest = max(longest, interval)
        shortest = min(shortest, interval)
        trace.add(deviation, at: time)
    }

    /// Number of ticks.
    var count: Int { Int(errors.count) }

    /// Standard deviation of a tick's time in microseconds.
    var deviation: Double { errors.deviation(freedoms: freedoms) }

    /// The figures; nil before there are any.
    var figures: ClockFigures.Jitter? {
        guard errors.count > 0, intervals.count > 0 else { return nil }
        let quantiles = histogram.quantiles([0.5, 0.99, 0.999])
        return ClockFigures.Jitter(
            timeIntervalErrorMicroseconds: .init(
                deviation: deviation, p50: min(quantiles[0], errors.largest), p99: min(quantiles[1], errors.largest),
                p999: min(quantiles[2], errors.largest), max: errors.largest),
            intervalMicroseconds: .init(
                mean: meanInterval, deviation: intervals.deviation(), shortest: shortest, longest: longest),
            cycleToCycleMicroseconds: .init(rms: changes.deviation(), max: changes.largest))
    }
}
