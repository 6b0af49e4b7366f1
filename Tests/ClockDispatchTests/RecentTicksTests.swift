import BeatTime
import Testing

@testable import ClockDispatch

@Suite
struct RecentTicksTests {
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

    @Test
    func `the last minute's ticks are told with the worst of them, and forgotten afterwards`() {
        let counters = OutputCounters()
        // A tick a second from 1000 s on; the one at 1003 s is 40 ms late, and that at 1058 s 2 ms.
        for second in Int64(1_000)...1_059 {
            let lateness: Int64 = [1_003: 40_000, 1_058: 2_000][second] ?? 100
            counters.countTick(lateness: lateness, at: HostTime(microseconds: second * 1_000_000))
        }
        func told(_ second: Int64) -> [Int64] {
            let tally = counters.lastMinute(at: HostTime(microseconds: second * 1_000_000))
            return [Int64(tally.ticks), Int64(tally.late), tally.worst]
        }
        #expect(told(1_059) == [60, 2, 40_000])
        #expect(told(1_060) == [55, 1, 2_000])
        #expect(told(1_114) == [5, 1, 2_000])
        #expect(told(1_115) == [0, 0, 0])
        // After a pause nothing of the minute before it is left.
        counters.countTick(lateness: 3_000_000, at: HostTime(microseconds: 1_117_000_000))
        #expect(told(1_117) == [1, 1, 1_000_000])
    }
}
