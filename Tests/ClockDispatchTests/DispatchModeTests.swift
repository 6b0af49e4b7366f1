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
        (.queue, .fifo(priority: 80), true, true, .queue),
        (.direct, .other, false, true, .direct),
        (.queue, .other, false, false, .direct),
    ])
    func `the mode is the user's choice, or else what suits scheduling and kernel, and never one without a queue`(
        choice: DispatchChoice, scheduling: Scheduling, isRealTimeKernel: Bool, hasQueue: Bool, expected: DispatchMode
    ) {
        let way = DispatchWay.chosen(
            choice, scheduling: scheduling, isRealTimeKernel: isRealTimeKernel, hasQueue: hasQueue)
        #expect(way == DispatchWay(mode: expected, isRealTime: scheduling.isRealTime))
    }
}

@Suite
struct PunctualityTests {
    @Test
    func `messages are put into the queue twice as long ahead as the thread was ever held up, within limits`() {
        var punctuality = Punctuality()
        #expect(punctuality.lead == 5_000_000)
        punctuality.wasDelayed(by: 8_000_000)
        punctuality.wasDelayed(by: 1_000)
        #expect((15_990_000...16_000_000).contains(punctuality.lead))
        punctuality.wasDelayed(by: 30_000_000)
        #expect(punctuality.lead == 40_000_000)
    }

    @Test
    func `one long stall is forgotten within an hour`() {
        var punctuality = Punctuality()
        punctuality.wasDelayed(by: 3_000_000_000)
        #expect(punctuality.lead == 40_000_000)
        for _ in 0..<(96 * 3_600) { punctuality.wasDelayed(by: 10_000) }
        #expect(punctuality.lead == 5_000_000)
    }

    @Test(arguments: [Int64(1), 2, 4])
    func `one wake-up in ten needs more than the margin, however fast the processor is`(scale: Int64) {
        var random = SeededGenerator(seed: 7)
        var punctuality = Punctuality()
        var exceeding = 0
        for number in 0..<40_000 {
            let time = scale * .random(in: 5_000...25_000, using: &random)
            if number >= 20_000, time > punctuality.margin { exceeding += 1 }
            punctuality.couldAct(after: time)
        }
        #expect((1_500...2_500).contains(exceeding))
    }
}
