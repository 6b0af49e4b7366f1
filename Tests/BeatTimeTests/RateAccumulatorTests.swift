import Testing

@testable import BeatTime

@Suite
struct RateAccumulatorTests {
    private static let steps = [-9_000.0, -3_000, -1_000, -20, 1, 300, 1_000, 5_000, 10_000, 60_000]

    @Test(arguments: steps)
    func `a step is fully corrected without overshoot, within the limit of the rate`(step: Double) {
        var owed = RateAccumulator()
        owed.owe(step, at: at(1_000_000))
        #expect(owed.debt(at: at(1_000_000)) == step)
        let limit = abs(step) <= 1_000 ? RateAccumulator.smallRateLimit : RateAccumulator.rateLimit
        var last = abs(step)
        for time in stride(from: Int64(1_000_000), through: 91_000_000, by: 20_000) {
            let debt = owed.debt(at: at(time)) * (step < 0 ? -1 : 1)
            #expect(debt >= 0 && debt <= last)
            #expect(abs(owed.slope(at: at(time))) <= limit * 1.000_001)
            last = debt
        }
        #expect(last < 1)
    }

    @Test
    func `a step of 5 ms is 99 percent corrected after 6.64 time constants, by the closed form`() {
        var owed = RateAccumulator()
        owed.owe(5_000, at: at(0))
        let timeConstant = 5_000 / (2.718281828459045 * RateAccumulator.rateLimit)
        #expect(abs(owed.debt(at: at(Int64(timeConstant * 6.64))) - 50) < 0.5)
        #expect(abs(owed.slope(at: at(Int64(timeConstant)))) > RateAccumulator.rateLimit * 0.999)
    }

    @Test
    func `reading the state often or rarely changes nothing`() {
        var coarse = RateAccumulator()
        var fine = RateAccumulator()
        coarse.owe(7_000, at: at(0))
        fine.owe(7_000, at: at(0))
        for time in stride(from: Int64(0), through: 3_000_000, by: 777) {
            // Adding a slope of zero is a change too: it restarts the state from here.
            fine.owe(slope: 0, over: 7_000 / (2.718281828459045 * RateAccumulator.rateLimit), at: at(time))
        }
        #expect(abs(fine.debt(at: at(3_000_000)) - coarse.debt(at: at(3_000_000))) < 1e-6)
    }

    @Test
    func `nothing is lost: the integral of the rate equals the sum of all steps`() {
        var owed = RateAccumulator()
        var random = UInt64(42)
        var total = 0.0
        var paid = 0.0
        var time: Int64 = 0
        for _ in 0..<400 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let step = Double(Int64(random >> 40) % 4_001 - 2_000)
            owed.owe(step, at: at(time))
            total += step
            let wait = Int64(random >> 33 & 0x3FFFF)
            // The debt's change over an interval, integrated from its slopes (Simpson's rule with 64 parts).
            paid -= integral(of: owed, from: time, to: time + wait)
            time += wait
        }
        #expect(abs(total - paid - owed.debt(at: at(time))) < 1)
        #expect(abs(owed.debt(at: at(time + 120_000_000))) < 1e-6)
    }

    @Test
    func `repeated steps never exceed the limit of the rate`() {
        var owed = RateAccumulator()
        for round in Int64(0)..<300 {
            let time = round * 37_000
            owed.owe(round % 3 == 0 ? -900 : 700, at: at(time))
            for later in stride(from: time, to: time + 37_000, by: 1_000) {
                #expect(abs(owed.slope(at: at(later))) <= RateAccumulator.rateLimit * 1.000_001)
            }
        }
    }

    @Test(arguments: [(0.04, 50_000.0), (-0.04, 116_000), (0.25, 250_000), (-0.2, 500_000)])
    func `a spread change of tempo costs at most its slope over e times w, overshoots by an eighth, and is corrected`(
        slope: Double, timeConstant: Double
    ) {
        var owed = RateAccumulator()
        owed.owe(slope: slope, over: timeConstant, at: at(0))
        let times = stride(from: Int64(0), through: Int64(timeConstant * 30), by: Int(timeConstant) / 100)
        let debts = times.map { owed.debt(at: at($0)) }
        let largest = debts.map(abs).max() ?? 0
        #expect(abs(largest - abs(slope) * timeConstant / 2.718281828459045) < 1e-3 * largest)
        let overshoot = times.map { -owed.slope(at: at($0)) / slope }.max() ?? 0
        #expect(abs(overshoot - 0.1353) < 0.001)
        #expect(abs(debts.last ?? 1) < 1e-4)
    }

    @Test
    func `many fast changes of tempo are corrected as soon as one`() {
        var owed = RateAccumulator()
        owed.owe(20_000, at: at(0))
        for change in 1...12 { owed.owe(slope: -0.25, over: 100_000, at: at(Int64(change) * 1_000)) }
        #expect(abs(owed.debt(at: at(3_000_000))) < 1)
    }

    @Test
    func `the exponential is exact to the last few bits`() {
        // e to the -1, -10, -0.001, -100, from tables.
        let known = [
            (-1.0, 0.36787944117144233), (-10, 4.5399929762484854e-05), (-0.001, 0.9990004998333750),
            (-100, 3.720075976020836e-44), (0, 1),
        ]
        for (power, value) in known { #expect(abs(exponential(power) / value - 1) < 4e-15) }
        #expect(exponential(-1e9) == 0)
    }

    // Compared with the form it replaces, which counts buffers instead of time:
    // d = s - r + m;  r += a·d;  m = (1 - a)·d;  a = frames/5120.

    @Test(arguments: [64, 256, 512, 1024])
    func `the buffer-based form oscillates, this one does not`(frames: Int) {
        var old = BufferBased()
        var peak = 0.0
        for _ in 0..<(44_100 * 2 / frames) {
            old.step(toward: 1, frames: frames)
            peak = max(peak, old.rate)
        }
        #expect(peak > 1.45, "the old form overshoots a tempo step by half of it and more")
        var owed = RateAccumulator()
        owed.owe(slope: 1, over: 116_000, at: at(0))
        let overshoot = (0..<2_000).map { -owed.slope(at: at(Int64($0) * 1_000)) }.max() ?? 1
        #expect(overshoot < 0.136)
    }

    @Test
    func `the buffer-based form leaks with uneven buffers, this one keeps every microsecond`() {
        var old = BufferBased()
        var oldPhase = 0.0
        var random = UInt64(7)
        for _ in 0..<6_000 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let frames = 64 + Int(random >> 33) % 897
            old.step(toward: 0.04, frames: frames)
            oldPhase += (0.04 - old.rate) * Double(frames) / 44_100 * 1e6
        }
        #expect(abs(oldPhase) > 5, "the old form loses \(oldPhase) us for good")
        var owed = RateAccumulator()
        owed.owe(slope: 0.04, over: 116_000, at: at(0))
        #expect(abs(owed.debt(at: at(60_000_000))) < 1e-9)
    }

    private struct BufferBased {
        var rate = 0.0
        private var rest = 0.0

        mutating func step(toward target: Double, frames: Int) {
            let share = Double(frames) / 5_120
            let difference = target - rate + rest
            rate += share * difference
            rest = (1 - share) * difference
        }
    }

    private func at(_ microseconds: Int64) -> HostTime { HostTime(microseconds: microseconds) }

    private func integral(of owed: RateAccumulator, from start: Int64, to end: Int64) -> Double {
        guard end > start else { return 0 }
        let parts = 64
        let width = Double(end - start) / Double(parts)
        // Times are whole microseconds, so the points are rounded and the widths follow them.
        let points = (0...parts).map { start + Int64((Double($0) * width).rounded()) }
        return zip(points, points.dropFirst()).reduce(0) { sum, pair in
            sum + (owed.slope(at: at(pair.0)) + owed.slope(at: at(pair.1))) / 2 * Double(pair.1 - pair.0)
        }
    }
}
