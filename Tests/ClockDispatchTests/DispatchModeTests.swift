import RealTime
import Testing

@testable import ClockDispatch

@Suite
struct DispatchModeTests {
    @Test(arguments: [
        (DispatchChoice.auto, Scheduling.fifo(priority: 80), false, true, DispatchMode.backstop),
        (.auto, .fifo(priority: 80), true, true, .direct),
        (.auto, .roundRobin(priority: 20), false, true, .backstop),
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
        let mode = DispatchMode.chosen(
            choice, scheduling: scheduling, isRealTimeKernel: isRealTimeKernel, hasQueue: hasQueue)
        #expect(mode == expected)
    }
}

@Suite
struct ForeignTimersTests {
    private func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test
    func `a queue that starts late runs a pacemaker for a while, which is then checked again`() {
        var timers = ForeignTimers()
        let measured = (0..<32).filter { _ in timers.wantsMeasurement() }
        #expect(measured.count == 2, "now and then is enough")
        let atFirst = timers.started(late: 150_000, at: time(1))
        #expect(atFirst == nil, "a period late is as good as it gets")
        let delayed = timers.started(late: 700_000, at: time(2))
        #expect(delayed == true)
        let meanwhile = timers.started(late: 100_000, at: time(5))
        #expect(meanwhile == nil)
        let later = timers.started(late: 100_000, at: time(12))
        let measuresAtOnce = timers.wantsMeasurement()
        #expect(later == false && measuresAtOnce)
        let again = timers.started(late: 700_000, at: time(13))
        #expect(again == true)
    }
}

@Suite
struct WakeUpLatencyTests {
    /// Length of a tick at 174, 120 and 20 BPM, in microseconds.
    @Test(arguments: [Int64(14_367), 20_833, 125_000])
    func `busy-waiting uses at most half a percent of a core, and three percent on a busy machine`(tickLength: Int64) {
        var latency = WakeUpLatency()
        for _ in 0..<1000 { latency.learn(2_000_000) }
        let share = Double(latency.wakeUpMargin(tickLength: tickLength, hasQueue: true)) / Double(tickLength * 1000)
        #expect(share <= 0.005)
        for _ in 0..<3 { latency.sampleLoad(otherThreads: 1) }
        let busyShare = Double(latency.wakeUpMargin(tickLength: tickLength, hasQueue: true)) / Double(tickLength * 1000)
        #expect(busyShare > share && busyShare <= 0.03)
    }

    @Test
    func `at 999 BPM a thread with a queue wakes no earlier on a busy machine than on an idle one`() {
        var latency = WakeUpLatency()
        let idle = latency.wakeUpMargin(tickLength: 2_502, hasQueue: true)
        for _ in 0..<3 { latency.sampleLoad(otherThreads: 1) }
        #expect(latency.wakeUpMargin(tickLength: 2_502, hasQueue: true) == idle)
        #expect(latency.wakeUpMargin(tickLength: 2_502, hasQueue: false) == 6 * idle)
    }

    @Test
    func `up to 187 BPM the busy-wait on a busy machine covers the time that interrupts may be disabled`() {
        var latency = WakeUpLatency()
        for _ in 0..<3 { latency.sampleLoad(otherThreads: 1) }
        #expect(latency.wakeUpMargin(tickLength: 60_000_000 / 187 / 24, hasQueue: true) == 400_000)
    }

    @Test
    func `three samples detect a load, simultaneous wake-ups do not count, and an ended load is forgotten`() {
        var latency = WakeUpLatency()
        for number in 0..<100 {
            latency.sampleLoad(otherThreads: number % 8 == 0 ? 1 : 0)
            #expect(!latency.isMachineBusy)
        }
        for _ in 0..<3 { latency.sampleLoad(otherThreads: 4) }
        #expect(latency.isMachineBusy)
        for _ in 0..<14 { latency.sampleLoad(otherThreads: 0) }
        #expect(!latency.isMachineBusy)
    }
}
