internal import MIDIClock

/// The line through all ticks since the last change of tempo.
struct SteadyStretch {
    private let first: Tick
    /// Microseconds per tick from the first block; keeps the sums small.
    private let roughPeriod: Double
    private var sums = TickSums()

    init(_ block: TickBlock) {
        first = block.ticks[0]
        roughPeriod = block.period
        add(block)
    }

    /// Adds a block of the same tempo; outliers are ignored.
    mutating func add(_ block: TickBlock) {
        for tick in block.ticks where block.isNear(tick) {
            let distance = Double(tick.number &- first.number)
            sums.add(distance, Double(tick.time &- first.time) - roughPeriod * distance)
        }
    }

    /// Microseconds per tick.
    var period: Double { roughPeriod + sums.line.slope }

    /// Standard deviation of ``period`` for independent tick errors of this size, in microseconds.
    func periodDeviation(noise: Double) -> Double { noise / sums.spread.squareRoot() }
}
