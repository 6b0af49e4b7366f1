/// How much a leader's ticks jitter, measured whatever its tempo does.
struct JitterMeter: Sendable {
    /// Distances of ticks from the middle of their neighbours; a steady or a slowly changing tempo cancels in them.
    private var distances = RunningMedian(capacity: 96)
    /// Standard deviation of one stamp against its neighbours in microseconds.
    private var local = assumed
    /// The same of lateness that creeps and then jumps back: ticks that wait for a USB frame or a coarse timer.
    private var creeping = 0.0
    /// Ticks from one jump to the next.
    private var spacing = 1.0
    private var lastJump: (number: Int64, period: Double)?
    /// Of what ticks missed their places by, while lateness creeps.
    private var meanSquare = 0.0

    /// Microseconds assumed before anything is known, as much as so many ticks would say.
    private static let assumed = 1_000.0
    private static let assumedWeight = 2.0
    /// Ticks over which misses are averaged.
    private static let memory = 128.0
    /// Jumps beyond this, in microseconds, are no jitter.
    private static let longestJump = 2_500.0
    /// From the median of absolute values to the deviation; a second difference has 6 times the variance of a stamp.
    private static let fromMedian = 1.4826 / 6.0.squareRoot()

    /// Standard deviation of one stamp in microseconds, at least 1.
    var deviation: Double { max(1, local, creeping) }

    /// The deviation of independent noise that would move a line as much as this jitter does, in microseconds.
    ///
    /// Lateness that creeps over many ticks does not average out as fast as independent lateness does.
    var equivalent: Double {
        let extra = max(0, creeping * creeping - local * local) * max(1, spacing / 2)
        return max(1, (local * local + extra).squareRoot())
    }

    /// Takes note of how far a tick was from its place, in microseconds.
    mutating func missed(by error: Double) {
        meanSquare += (min(error * error, 4 * creeping * creeping) - meanSquare) / Self.memory
        // It still creeps as long as ticks miss their places by as much; else forget it slowly.
        if meanSquare < creeping * creeping / 4 { creeping *= 1 - 0.5 / Self.memory }
    }

    /// Begins with nothing known.
    mutating func forget() {
        distances.removeAll()
        (local, creeping, spacing, lastJump, meanSquare) = (Self.assumed, 0, 1, nil, 0)
    }

    /// Takes note of the newest tick.
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

    /// Takes note that ticks have jumped at a tick by so many microseconds and stayed there.
    ///
    /// Once is an event. A second time soon after, with the tempo the same between jumps, is the way this leader
    /// jitters: lateness spread evenly over the jump.
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
