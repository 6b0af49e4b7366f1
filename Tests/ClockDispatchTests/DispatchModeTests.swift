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
        #expect(way.isAdaptive == (choice == .auto && scheduling.isRealTime && hasQueue))
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
        #expect(policy.lead == 16_000_000)
        policy.wokeUp(lateness: 30_000_000)
        #expect(policy.lead == 40_000_000)
    }

    @Test
    func `a sleeping computer is no reason to start the queue earlier`() {
        var policy = WakeUpPolicy()
        policy.wokeUp(lateness: 3_600_000_000_000)
        #expect(policy.lead == 5_000_000)
    }

    /// At 174, 120 and 20 BPM, in nanoseconds.
    @Test(arguments: [Int64(14_367_000), 20_833_000, 125_000_000])
    func `waiting for a message uses at most 3 percent of a core`(tickLength: Int64) {
        var policy = WakeUpPolicy()
        for _ in 0..<1_000 { policy.couldSend(after: 2_000_000) }
        #expect(policy.marginToSend(distance: tickLength) == min(250_000, tickLength / 33))
    }

    @Test
    func `the more a group of messages costs, the fewer groups there are`() {
        func span(cost: Int64) -> Int64 {
            var policy = WakeUpPolicy()
            for number in 0..<500 { policy.finishedGroup(threadTime: Int64(number) * cost) }
            return policy.groupSpan
        }
        #expect(span(cost: 20_000) == 2_500)
        #expect((9_300...10_000).contains(span(cost: 300_000)))
        #expect(span(cost: 5_000_000) == 20_000)
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
    func `a few late starts in a row show another queue, a single late interrupt does not`() {
        var company = Company()
        for number in 0..<100 {
            let delay: Int64 = number % 6 == 5 ? 60_000 : 4_000
            company.started(after: delay...delay + 2_000)
            #expect(!company.isPresent)
        }
        for _ in 0..<3 { company.started(after: 90_000...92_000) }
        #expect(company.isPresent)
    }

    /// How long a start takes by itself, from a fast laptop to a slow board, in nanoseconds.
    @Test(arguments: [Int64(3_000), 6_000, 12_000, 24_000])
    func `another queue is noticed and missed again on any processor`(usual: Int64) {
        var random = SeededGenerator(seed: UInt64(usual))
        var company = Company()
        func start(besideAnother: Bool) {
            let delay = usual + (besideAnother ? .random(in: 0...160_000, using: &random) : 0)
            company.started(after: delay - usual / 4...delay + usual / 4)
        }
        for _ in 0..<50 { start(besideAnother: false) }
        #expect(!company.isPresent)
        for _ in 0..<50 { start(besideAnother: true) }
        #expect(company.isPresent)
        for _ in 0..<16 { start(besideAnother: false) }
        #expect(!company.isPresent)
    }

    @Test
    func `beside another queue ours is seldom started anew`() {
        var company = Company()
        company.started(after: 3_000...4_000)
        for _ in 0..<4 { company.started(after: 90_000...92_000) }
        let starts = (0..<1280).count { _ in company.wantsStart() }
        #expect(starts == 10)
    }
}
