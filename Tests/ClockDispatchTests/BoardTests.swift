import BeatTime
import MIDIClock
import Testing

@testable import ClockDispatch

@Suite
struct BoardTests {
    @Test
    func `another output in the same slot starts from the beginning`() {
        let stage = DispatchStage(mode: .direct)
        stage.changes = [
            (
                stage.kernel.now + 200_000_000,
                {
                    $0.slots[0].occupant = 7
                    $0.slots[0].connections = 1
                }
            )
        ]
        stage.run(milliseconds: 400)
        #expect(stage.ticksCounted(slot: 0) < stage.messages().count)
        #expect(stage.ticksCounted(slot: 0) > 0)
    }

    @Test
    func `disabling an output stops its device and its clock, and enabling it resumes at a bar`() {
        let stage = DispatchStage(mode: .direct)
        stage.board.transport = PlannedTransport(isPlaying: true, startTick: 0, ticksPerBar: 24)
        let start = stage.kernel.now
        stage.changes = [
            (start + 1_000_000_000, { $0.slots[0].isEnabled = false }),
            (
                start + 2_000_000_000,
                {
                    $0.slots[0].isEnabled = true
                    $0.slots[0].connections += 2
                }
            ),
        ]
        stage.run(milliseconds: 4_000)
        let off = stage.messages().filter { $0.time > start + 1_000_200_000 && $0.time < start + 2_000_000_000 }
        #expect(off.isEmpty)
        let before = stage.messages().last { $0.time <= start + 1_000_200_000 }
        #expect(before?.message == .stop)
        let after = stage.messages().filter { $0.time >= start + 2_000_000_000 && $0.message != .timingClock }
        #expect(after.contains { $0.message == .continue })
    }
}
