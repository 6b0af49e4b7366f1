import BeatTime
import Testing

@testable import RealTime

@Suite
struct ClockReadingTests {
    @Test
    func `a host time converts to the monotonic time at which it begins, whatever lies between the clocks`() {
        let reading = ClockReading(
            monotonic: MonotonicTime(nanoseconds: 5_000_000_000_123), rawNanoseconds: 4_700_000_000_456)
        #expect(reading.hostTime == HostTime(microseconds: 4_700_000_000))
        let later = HostTime(microseconds: 4_700_001_000)
        #expect(reading.monotonicTime(of: later).nanoseconds == 5_000_000_000_123 + 1_000_000 - 456)
        let earlier = HostTime(microseconds: 4_699_999_000)
        #expect(reading.monotonicTime(of: earlier).nanoseconds == 5_000_000_000_123 - 1_000_000 - 456)
    }

    @Test
    func `a reading lies between what the clocks show before and after it`() {
        let (hostBefore, before) = (HostTime.now(), MonotonicTime.now())
        let reading = ClockReading.take()
        let (after, hostAfter) = (MonotonicTime.now(), HostTime.now())
        #expect(before <= reading.monotonic && reading.monotonic <= after)
        #expect(hostBefore <= reading.hostTime && reading.hostTime <= hostAfter)
    }
}
