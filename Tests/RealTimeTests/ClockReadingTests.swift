import BeatTime
import Testing

@testable import RealTime

@Suite
struct ClockReadingTests {
    @Test
    func `a host time converts to the monotonic time at which it begins, for any offset between the clocks`() {
        let reading = ClockReading(
            monotonic: MonotonicTime(nanoseconds: 5_000_000_000_123), rawNanoseconds: 4_700_000_000_456)
        #expect(reading.hostTime == HostTime(microseconds: 4_700_000_000))
        let later = HostTime(microseconds: 4_700_001_000)
        #expect(reading.monotonicTime(of: later).nanoseconds == 5_000_000_000_123 + 1_000_000 - 456)
        let earlier = HostTime(microseconds: 4_699_999_000)
        #expect(reading.monotonicTime(of: earlier).nanoseconds == 5_000_000_000_123 - 1_000_000 - 456)
    }

    @Test
    func `a reading is between the clocks' values before and after it`() {
        let (hostBefore, before) = (HostTime.now(), MonotonicTime.now())
        let reading = ClockReading.take()
        let (after, hostAfter) = (MonotonicTime.now(), HostTime.now())
        #expect(before <= reading.monotonic && reading.monotonic <= after)
        #expect(hostBefore <= reading.hostTime && reading.hostTime <= hostAfter)
    }

    @Test(arguments: [-100_000, -500, 0, 500, 100_000] as [Int64])
    func `the clocks' rate is learned from an earlier reading, up to ten percent`(partsPerMillion: Int64) {
        let earlier = ClockReading(monotonic: MonotonicTime(nanoseconds: 5_000_000), rawNanoseconds: 2_000_000)
        let gained = 5_000_000 * partsPerMillion / 1_000_000
        var later = ClockReading(
            monotonic: MonotonicTime(nanoseconds: 10_000_000 + gained), rawNanoseconds: 7_000_000)
        later.learnDrift(from: earlier)
        let due = HostTime(microseconds: 12_000)
        let expected = 15_000_000 + 2 * gained
        #expect(abs(later.monotonicTime(of: due).nanoseconds - expected) <= 2)
        #expect(abs(later.hostTime(of: MonotonicTime(nanoseconds: expected)).microseconds - 12_000) <= 1)
    }

    @Test
    func `readings too close together do not change the rate`() {
        let first = ClockReading(monotonic: MonotonicTime(nanoseconds: 0), rawNanoseconds: 0)
        var second = ClockReading(monotonic: MonotonicTime(nanoseconds: 5_002_500), rawNanoseconds: 5_000_000)
        second.learnDrift(from: first)
        var third = ClockReading(monotonic: MonotonicTime(nanoseconds: 5_003_700), rawNanoseconds: 5_001_000)
        third.learnDrift(from: second)
        let expected: Int64 = 5_003_700 + 10_000_000 + 5_000
        #expect(abs(third.monotonicTime(of: HostTime(microseconds: 15_001)).nanoseconds - expected) <= 2)
    }
}
