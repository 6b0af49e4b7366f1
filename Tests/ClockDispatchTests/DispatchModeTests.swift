import RealTime
import Simulation
import Testing

@testable import ClockDispatch

@Suite
struct DispatchModeTests {
    @Test(arguments: [
        (DispatchChoice.auto, Scheduling.fifo(priority: 80), false, true, DispatchMode.queue),
        (.auto, .fifo(priority: 80), true, true, .direct),
        (.auto, .roundRobin(priority: 20), false, true, .queue),
        (.auto, .roundRobin(priority: 20), true, true, .direct),
        (.auto, .other, true, true, .queue),
        (.auto, .other, false, true, .queue),
        (.auto, .other, false, false, .direct),
        (.backstop, .fifo(priority: 80), true, true, .backstop),
        (.queue, .fifo(priority: 80), false, true, .queue),
        (.direct, .other, false, true, .direct),
        (.queue, .other, false, false, .direct),
    ])
    func `the mode is the user's choice, or else what suits scheduling and kernel, and never one without a queue`(
        choice: DispatchChoice, scheduling: Scheduling, isRealTimeKernel: Bool, hasQueue: Bool, expected: DispatchMode
    ) {
        let way = DispatchWay.chosen(
            choice, scheduling: scheduling, isRealTimeKernel: isRealTimeKernel, hasQueue: hasQueue)
        #expect(way.mode == expected)
        #expect(way.isAdaptive == (choice == .auto && scheduling.isRealTime && hasQueue && !isRealTimeKernel))
    }
}

@Suite
struct WakeUpPolicyTests {
    @Test
    func `the queue is started twice as long ahead as the thread was ever held up, within limits`() {
        var policy = WakeUpPolicy()
        #expect(policy.lead == 5_000_000)
        policy.wokeUp(lateness: 8_000_000)
        policy.wokeUp(lateness: 1_000)
        #expect((15_990_000...16_000_000).contains(policy.lead))
        policy.wokeUp(lateness: 30_000_000)
        #expect(policy.lead == 40_000_000)
    }

    @Test
    func `one long stall is forgotten within an hour`() {
        var policy = WakeUpPolicy()
        policy.wokeUp(lateness: 3_000_000_000)
        #expect(policy.lead == 40_000_000)
        for _ in 0..<(96 * 3_600) { policy.wokeUp(lateness: 10_000) }
        #expect(policy.lead == 5_000_000)
    }

    @Test
    func `a stall, which no margin covers, does not make the thread wake earlier`() {
        var policy = rested()
        for _ in 0..<100 { policy.couldSend(after: 2_000_000) }
        #expect(policy.marginToSend == 50_000)
        for _ in 0..<100 { policy.couldSend(after: 400_000) }
        #expect(policy.marginToSend > 350_000)
    }

    /// One that may use as much as possible.
    private func rested() -> WakeUpPolicy {
        var policy = WakeUpPolicy()
        for second in 1...2 {
            policy.finishedGroup(at: MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000), threadTime: 0)
        }
        return policy
    }

    /// At 174, 120 and 20 BPM, in nanoseconds.
    @Test(arguments: [Int64(14_367_000), 20_833_000, 125_000_000])
    func `waiting for a message uses at most 3 percent of a core`(tickLength: Int64) {
        let (waited, _) = waits(distances: [tickLength])
        #expect(waited <= tickLength * 31 / 1_000)
        #expect(waited >= min(690_000, tickLength * 29 / 1_000))
    }

    /// Of two outputs, one of which is due so soon after the other, in nanoseconds.
    @Test(arguments: [Int64(2_500_000), 5_000_000, 10_000_000])
    func `messages that are due soon after others are waited for, too`(distance: Int64) {
        let (first, second) = waits(distances: [20_000_000 - distance, distance])
        #expect(first + second <= 620_000)
        #expect(second >= 200_000)
    }

    /// For how long a thread that is often up to 0.7 ms late, but not now, waits for messages that are due so long after
    /// one another, in nanoseconds; the first and the last of them.
    private func waits(distances: [Int64]) -> (first: Int64, last: Int64) {
        var policy = rested()
        var (now, used) = (Int64(3_000_000_000), Int64(0))
        var margins: [Int64] = []
        for _ in 0..<200 {
            for _ in 0..<4 { policy.couldSend(after: 2_000) }
            policy.couldSend(after: 700_000)
            margins = []
            for distance in distances {
                now += distance
                margins.append(policy.marginToSend)
                used += policy.marginToSend
                policy.finishedGroup(at: MonotonicTime(nanoseconds: now), threadTime: used)
            }
        }
        return (margins[0], margins[margins.count - 1])
    }

    /// Groups that are handled `distance` apart, in microseconds, at a cost in nanoseconds each.
    private func span(cost: Int64, distance: Int64) -> Int64 {
        var policy = WakeUpPolicy()
        for number in 0..<500 {
            policy.finishedGroup(
                at: MonotonicTime(nanoseconds: Int64(number) * distance * 1_000), threadTime: Int64(number) * cost)
        }
        return policy.groupSpan
    }

    @Test
    func `only a thread that uses more than its share handles more messages at a time`() {
        #expect(span(cost: 300_000, distance: 10_400) == 2_500)
        #expect(span(cost: 70_000, distance: 2_600) == 2_500)
        #expect(span(cost: 100_000, distance: 2_600) == 40_000)
    }

    @Test(arguments: [Int64(1), 2, 4, 8])
    func `one duration in a hundred exceeds the estimate, however fast the processor is`(scale: Int64) {
        var random = SeededGenerator(seed: 7)
        var estimate = UpperDuration(20_000, within: 1_000...10_000_000, oneIn: 100)
        var exceeding = 0
        for number in 0..<40_000 {
            let duration = scale * .random(in: 5_000...25_000, using: &random)
            if number >= 20_000, duration > estimate.nanoseconds { exceeding += 1 }
            estimate.learn(duration)
        }
        #expect((50...400).contains(exceeding))
    }
}

@Suite
struct CompanyTests {
    @Test
    func `some late starts in a row show another queue, single ones do not`() {
        var company = Company()
        for number in 0..<100 {
            company.started(isLate: number % 3 == 2)
            #expect(!company.isPresent)
        }
        for _ in 0..<3 { company.started(isLate: true) }
        #expect(company.isPresent)
    }

    /// Beside a queue of 6250 Hz, a start seems undisturbed if it comes at most 40 us before that queue's timer fires.
    @Test
    func `another queue is noticed at once, never forgotten while it runs, and missed when it is gone`() {
        var random = SeededGenerator(seed: 3)
        var company = Company()
        func start(_ constant: Int64? = nil) {
            let phase = constant ?? .random(in: 0..<QueueGrid.period, using: &random)
            company.started(isLate: (phase + company.shift) % QueueGrid.period > Company.tolerance)
        }
        for _ in 0..<20 { start() }
        #expect(company.isPresent)
        for _ in 0..<1_000 {
            start()
            #expect(company.isPresent)
        }
        // At some tempos every tick is due at the same time of that queue's period.
        for phase in stride(from: 0, to: QueueGrid.period, by: 10_000) {
            for _ in 0..<100 {
                start(phase)
                #expect(company.isPresent)
            }
        }
        for _ in 0..<16 { company.started(isLate: false) }
        #expect(!company.isPresent)
    }
}
