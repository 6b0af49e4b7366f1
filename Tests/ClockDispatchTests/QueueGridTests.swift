import BeatTime
import MIDIClock
import RealTime
import Simulation
import Testing

@testable import ClockDispatch

@Suite
struct QueueGridTests {
    private func time(_ nanoseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds) }

    @Test
    func `the queue is started a whole number of periods before the message, as early as the lead allows`() throws {
        let aim = time(10_000_000)
        let early = try #require(QueueGrid(aimingAt: aim, from: time(0), lead: 5_000_000))
        #expect(early.start == time(10_000_000 - 31 * 160_000))
        let late = try #require(QueueGrid(aimingAt: aim, from: time(9_500_000), lead: 5_000_000))
        #expect(late.start == time(10_000_000 - 3 * 160_000))
        #expect(QueueGrid(aimingAt: aim, from: time(9_840_001), lead: 5_000_000) == nil)
    }

    @Test(arguments: [Int64](0...40))
    func `no message is sent before its time, and none more than a period after it`(step: Int64) {
        let grid = QueueGrid(start: time(1_000_000))
        let due = time(1_000_000 + step * 40_007)
        // The queue sends it at the end of the period that its stamp is in.
        let leaves = time(1_000_000 + grid.stamp(notBefore: due) + 80_000)
        #expect(leaves >= due && leaves.nanoseconds - due.nanoseconds <= 160_000)
        #expect((leaves.nanoseconds - 1_000_000) % 160_000 == 0)
        let nearest = grid.end(nearest: due)
        #expect(abs(nearest.nanoseconds - due.nanoseconds) <= (due >= time(1_080_000) ? 80_000 : 160_000))
        #expect((nearest.nanoseconds - 1_000_000) % 160_000 == 0)
    }
}
