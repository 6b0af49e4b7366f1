internal import MIDIClock

/// The line through all ticks since the tempo last changed, however many.
struct SteadyStretch {
    private let first: Tick
    /// Microseconds from one tick to the next, as the first block has it: the sums stay small.
    private let roughPeriod: Double
    private var sums = TickSums()

    init(_ block: TickBlock) {
        first = block.ticks[0]
        roughPeriod = block.period
        add(block)
    }

    /// Takes in a block that goes on at the same tempo; what comes far from its place has no part.
    mutating func add(_ block: TickBlock) {
        for tick in block.ticks where block.isNear(tick) {
            let distance = Double(tick.number &- first.number)
            sums.add(distance, Double(tick.time &- first.time) - roughPeriod * distance)
        }
    }

    /// Microseconds from one tick to the next.
    var period: Double { roughPeriod + sums.line.slope }

    /// Standard deviation of ``period`` for ticks that are off by so many microseconds, independently.
    func periodDeviation(noise: Double) -> Double { noise / sums.spread.squareRoot() }
}
