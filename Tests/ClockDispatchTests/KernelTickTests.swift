import MIDIClock
import Testing

@testable import ClockDispatch

@Suite
struct KernelTickTests {
    /// The kernel's own timer tick: whatever is done at a whole millisecond takes 30 us longer.
    private func addKernelTicks(to kernel: SimulatedKernel) {
        var last = kernel.now
        kernel.delay = {
            defer { last = kernel.now }
            return kernel.now / 1_000_000 > last / 1_000_000 ? 30_000 : 1_000
        }
    }

    @Test(arguments: [Int64(-3), -1, 0, 5, 15])
    func `a tick close to the kernel's own is the queue's, whatever that one holds the thread up with`(offset: Int64) {
        let stage = DispatchStage(mode: .backstop, microsecondsPerBeat: 480_000)
        stage.board.slots[0].settings.offset = offset
        addKernelTicks(to: stage.kernel)
        stage.run(milliseconds: 1000)
        #expect(stage.lateness().count >= 48)
        #expect(stage.lateness().dropFirst().allSatisfy { (0...6).contains($0 - offset) }, "\(stage.lateness())")
    }

    /// Each of sixteen messages takes its time, so the last leave long after they are due.
    @Test
    func `a tick for many outputs is the queue's if the kernel's own comes before the last of them has left`() {
        let stage = DispatchStage(mode: .backstop, outputs: 16, microsecondsPerBeat: 480_000)
        for slot in 0..<16 { stage.board.slots[slot].settings.offset = -10 }
        addKernelTicks(to: stage.kernel)
        stage.run(milliseconds: 1000)
        #expect(stage.lateness(15).count >= 48)
        #expect(stage.lateness(15).dropFirst().allSatisfy { (0...16).contains($0 + 10) }, "\(stage.lateness(15))")
    }

    /// At 999 BPM the thread wakes too late to take back, and the queue is started anew after each tick.
    @Test
    func `a tick of the queue's is not late for what the kernel's own held its start up with`() {
        let stage = DispatchStage(mode: .backstop, microsecondsPerBeat: 60_060)
        addKernelTicks(to: stage.kernel)
        stage.wakeUpLatency = { 8_000 }
        stage.run(milliseconds: 5_000)
        #expect(stage.lateness().count >= 1990)
        #expect(stage.lateness().dropFirst().allSatisfy { (0...6).contains($0) }, "\(stage.lateness())")
        #expect(stage.messages().count { $0.isQueued } >= 1500)
    }
}
