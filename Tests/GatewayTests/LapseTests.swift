import BeatTime
import Testing

@testable import Gateway

@Suite
struct LapseTests {
    private func counters(lateAt seconds: [Int64]) -> OutputCounters {
        let counters = OutputCounters()
        for second in seconds {
            counters.countTick(lateness: 1_001, at: HostTime(microseconds: second * 1_000_000))
            counters.countTick(lateness: 1_000, at: HostTime(microseconds: second * 1_000_000 + 20_833))
        }
        return counters
    }

    @Test
    func `the third late tick within ten seconds is a lapse, and is forgotten after them`() {
        let counters = counters(lateAt: [1, 5, 9])
        let (soon, later) = (counters.isOftenLate(since: 900_000), counters.isOftenLate(since: 1_000_000))
        #expect(soon && !later)
    }

    @Test
    func `two late ticks are none`() {
        let (none, two) = (counters(lateAt: []), counters(lateAt: [1, 2]))
        let areOftenLate = [none.isOftenLate(since: -1_000_000), two.isOftenLate(since: -1_000_000)]
        #expect(areOftenLate == [false, false])
    }

    @Test
    func `another output in the same slot begins anew`() {
        let counters = counters(lateAt: [1, 2, 3])
        counters.reset()
        let isOftenLate = counters.isOftenLate(since: 0)
        #expect(!isOftenLate)
    }
}
