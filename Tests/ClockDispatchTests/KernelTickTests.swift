import MIDIClock
import Testing

@testable import ClockDispatch

@Suite
struct KernelTickTests {
    /// Adds the kernel's own timer tick: any work at a whole millisecond takes 30 us longer.
    private func addKernelTicks(to kernel: SimulatedKernel) {
        var last = kernel.now
        kernel.delay = {
            defer { last = kernel.now }
            return kernel.now / 1_000_000 > last / 1_000_000 ? 30_000 : 1_000
        }
    }

    @Test(arguments: [Int64(-3), -1, 0, 5, 15])
    func `a tick close to the kernel's own is left to the queue, however long the delay`(offset: Int64) {
        let stage = DispatchStage(mode: .backstop, microsecondsPerBeat: 480_000)
        stage.board.slots[0].settings.offset = offset
        addKernelTicks(to: stage.kernel)
        stage.run(milliseconds: 1000)
        #expect(stage.lateness().count >= 48)
        #expect(stage.lateness().dropFirst().allSatisfy { (0...6).contains($0 - offset) }, "\(stage.lateness())")
    }

    /// Each of sixteen messages takes time, so the last ones are sent long after they are due.
    @Test
    func `ticks of many outputs are left to the queue if the kernel's own tick comes before the last of them`() {
        let stage = DispatchStage(mode: .backstop, outputs: 16, microsecondsPerBeat: 480_000)
        for slot in 0..<16 { stage.board.slots[slot].settings.offset = -10 }
        addKernelTicks(to: stage.kernel)
        stage.run(milliseconds: 1000)
        #expect(stage.lateness(15).count >= 48)
        #expect(stage.lateness(15).dropFirst().allSatisfy { (0...16).contains($0 + 10) }, "\(stage.lateness(15))")
    }

    /// At 999 BPM the thread wakes too late to take messages back, and the queue is restarted after each tick.
    @Test
    func `a tick from the queue is not late because the kernel's own tick held up the queue's start`() {
        let stage = DispatchStage(mode: .backstop, microsecondsPerBeat: 60_060)
        addKernelTicks(to: stage.kernel)
        stage.wakeUpLatency = { 8_000 }
        stage.run(milliseconds: 5_000)
        #expect(stage.lateness().count >= 1990)
        #expect(stage.lateness().dropFirst().allSatisfy { (0...6).contains($0) }, "\(stage.lateness())")
        #expect(stage.messages().count { $0.isQueued } >= 1500)
    }
}
