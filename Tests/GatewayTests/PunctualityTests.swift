import BeatTime
import GatewayStatus
import MIDIClock
import Testing

@testable import ClockDispatch
@testable import Gateway

@Suite
struct PunctualityTests {
    /// The word for a minute of 2880 ticks, as at 120 BPM, of which these were so late, in microseconds.
    private func timing(_ late: [Int64]) -> Status.Punctuality.Timing? {
        let counters = OutputCounters()
        for tick in 0..<2_880 {
            let time = HostTime(microseconds: 60_000_000 + Int64(tick) * 20_833)
            counters.countTick(lateness: tick < late.count ? late[tick] : 20, at: time)
        }
        return Status.Punctuality(counters.lastMinute(at: HostTime(microseconds: 119_999_999)))?.timing
    }

    @Test
    func `what nobody hears is in time`() {
        #expect(timing([]) == .inTime)
        #expect(timing([4_900, 4_900]) == .inTime)
    }

    @Test
    func `a few late ticks are loose, and so is one that is heard`() {
        #expect(timing([1_100, 1_100, 1_100]) == .loose)
        #expect(timing([5_100]) == .loose)
        #expect(timing(Array(repeating: 1_100, count: 28)) == .loose)
    }

    @Test
    func `more than one late tick in a hundred is late`() {
        #expect(timing(Array(repeating: 1_100, count: 29)) == .late)
    }

    @Test
    func `ticks that a stall has taken count as late`() throws {
        let counters = OutputCounters()
        for tick in 0..<2_880 {
            counters.countTick(lateness: 20, at: HostTime(microseconds: 60_000_000 + Int64(tick) * 20_833))
        }
        var skipped = TickPlanner.Skipped()
        (skipped.pulses, skipped.lateness) = (4, 83_000)
        counters.countSkipped(skipped, at: HostTime(microseconds: 119_000_000))
        let minute = try #require(Status.Punctuality(counters.lastMinute(at: HostTime(microseconds: 119_999_999))))
        #expect(minute.timing == .loose)
        #expect((minute.ticks, minute.lateTicks, minute.maxMicroseconds) == (2_884, 4, 83_000))
    }

    @Test
    func `without a tick there is no word`() {
        #expect(Status.Punctuality(OutputCounters().lastMinute(at: HostTime(microseconds: 60_000_000))) == nil)
    }
}
