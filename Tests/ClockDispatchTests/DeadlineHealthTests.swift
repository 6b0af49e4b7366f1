import BeatTime
import Testing

@testable import ClockDispatch

@Suite
struct DeadlineHealthTests {
    private typealias Tick = (at: Int64, isLate: Bool)

    /// The verdict after ticks at these times, in milliseconds, some of them late.
    private func isOftenLate(_ ticks: [Tick], asked milliseconds: Int64) -> Bool {
        let counters = OutputCounters()
        for tick in ticks {
            counters.countTick(lateness: tick.isLate ? 1_001 : 1_000, at: HostTime(microseconds: tick.at * 1_000))
        }
        return counters.isOftenLate(at: HostTime(microseconds: milliseconds * 1_000))
    }

    /// Ticks every 20 ms; the first one in each group of `share` is late.
    private func ticks(_ count: Int64, from start: Int64 = 1_000_000, oneLateIn share: Int64) -> [Tick] {
        (0..<count).map { (start + $0 * 20, $0 % share == 0) }
    }

    @Test
    func `one late tick in a hundred is accepted, more are not`() {
        #expect(!isOftenLate(ticks(400, oneLateIn: 100), asked: 1_008_000))
        #expect(isOftenLate(ticks(400, oneLateIn: 90), asked: 1_008_000))
    }

    @Test
    func `two late ticks do not matter, however few ticks there were`() {
        #expect(!isOftenLate(ticks(2, oneLateIn: 1), asked: 1_000_100))
        #expect(isOftenLate(ticks(3, oneLateIn: 1), asked: 1_000_100))
    }

    @Test
    func `late ticks are forgotten after ten seconds, with or without new ticks`() {
        let late = ticks(100, oneLateIn: 1)
        #expect(isOftenLate(late, asked: 1_009_900))
        #expect(!isOftenLate(late, asked: 1_010_000))
        #expect(isOftenLate(late + ticks(100, from: 1_005_000, oneLateIn: .max), asked: 1_007_000))
        #expect(!isOftenLate(late + ticks(300, from: 1_005_000, oneLateIn: .max), asked: 1_011_000))
    }

    @Test
    func `another output in the same slot starts with clean counters`() {
        let counters = OutputCounters()
        for time in 0..<Int64(9) { counters.countTick(lateness: 2_000, at: HostTime(microseconds: time)) }
        counters.reset()
        let isOftenLate = counters.isOftenLate(at: HostTime(microseconds: 10))
        #expect(!isOftenLate)
    }
}
