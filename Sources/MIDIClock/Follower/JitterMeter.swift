/// Measures the jitter of a leader's ticks, independently of its tempo.
struct JitterMeter: Sendable {
    /// Distances of ticks from the middle of their neighbors; a steady or slowly changing tempo cancels out.
    private var distances = RunningMedian(capacity: 96)
    /// Standard deviation of one stamp relative to its neighbors, in microseconds.
    private var local = assumed
    /// Deviation of delays that creep up and jump back, as when ticks wait for a USB frame or a coarse timer.
    private var creeping = 0.0
    /// Ticks between two jumps.
    private var spacing = 1.0
    private var lastJump: (number: Int64, period: Double)?
    /// Mean square error of ticks while delays creep.
    private var meanSquare = 0.0

    /// Initial assumption in microseconds, with the weight of some ticks.
    private static let assumed = 1_000.0
    private static let assumedWeight = 2.0
    /// Ticks over which errors are averaged.
    private static let memory = 128.0
    /// Largest jump that counts as jitter, in microseconds.
    private static let longestJump = 2_500.0
    /// Factor from the median of absolute values to the deviation; a second difference has 6 times a stamp's variance.
    private static let fromMedian = 1.4826 / 6.0.squareRoot()

    /// Standard deviation of one stamp in microseconds, at least 1.
    var deviation: Double { max(1, local, creeping) }

    /// Deviation of independent noise with the same effect on a line, in microseconds.
    ///
    /// Delays that creep over many ticks do not average out as fast as independent ones.
    var equivalent: Double {
        let extra = max(0, creeping * creeping - local * local) * max(1, spacing / 2)
        return max(1, (local * local + extra).squareRoot())
    }

    /// Notes how far a tick was from its expected time, in microseconds.
    mutating func missed(by error: Double) {
        meanSquare += (min(error * error, 4 * creeping * creeping) - meanSquare) / Self.memory
        // Delays still creep while errors are that large; otherwise forget them slowly.
        if meanSquare < creeping * creeping / 4 { creeping *= 1 - 0.5 / Self.memory }
    }

    /// Resets everything.
    mutating func forget() {
        distances.removeAll()
        (local, creeping, spacing, lastJump, meanSquare) = (Self.assumed, 0, 1, nil, 0)
    }

    /// Adds the newest tick.
    mutating func took(_ ring: borrowing TickRing) {
        guard ring.count >= 3, ring[0].number &- ring[2].number == 2 else { return }
        let second = Double(ring[0].time &- ring[1].time) - Double(ring[1].time &- ring[2].time)
        distances.insert(abs(second))
        let measured = distances.value * Self.fromMedian
        let count = Double(distances.count)
        let weight = max(0, Self.assumedWeight * (1 - count / 16))
        let variance = (weight * Self.assumed * Self.assumed + count * measured * measured) / (weight + count)
        local = max(variance.squareRoot(), 1)
    }

    /// Notes a lasting jump of the ticks.
    ///
    /// A single one is an exception. A second one soon after, with the same tempo in between, shows that the leader's
    /// delays creep up and jump back again and again. They are then spread evenly over the size of the jump.
    ///
    /// - Parameters:
    ///   - jump: in microseconds.
    ///   - number: of the tick.
    ///   - period: measured before the jump, in microseconds.
    mutating func jumped(by jump: Double, at number: Int64, period: Double) {
        guard abs(jump) < Self.longestJump else { return }
        if let last = lastJump, number &- last.number < Int64(TickRing.capacity),
            abs(period - last.period) < 0.002 * period
        {
            creeping = max(creeping, abs(jump) / 12.0.squareRoot())
            meanSquare = max(meanSquare, creeping * creeping)
            spacing = min(max(spacing * 0.5, Double(number &- last.number)), 64)
        }
        lastJump = (number, period)
    }
}
