import RealTime
import Testing

@Suite
struct LatencyHistogramTests {
    @Test
    func `an empty histogram has no median`() {
        let histogram = LatencyHistogram()
        let (median, maximum) = (histogram.quantile(0.5), histogram.maximum)
        #expect(median == nil)
        #expect(maximum == 0)
    }

    @Test
    func `a quantile is never too low and at most an eighth too high`() throws {
        let histogram = LatencyHistogram()
        for duration in Int64(0)...20_000 { histogram.record(microseconds: duration) }
        for share in [0.01, 0.1, 0.5, 0.9, 0.99, 0.999] {
            let truth = Int64((20_001 * share).rounded(.up)) - 1
            let quantile = histogram.quantile(share)
            let read = try #require(quantile)
            #expect(read >= truth && read <= truth + truth / 8 + 1, "\(share): \(read) for \(truth)")
        }
        let (longest, maximum) = (histogram.quantile(1), histogram.maximum)
        #expect(longest == 20_000)
        #expect(maximum == 20_000)
    }

    @Test
    func `durations between powers of two are counted exactly`() {
        let histogram = LatencyHistogram()
        for duration in Int64(0)...5_000 { histogram.record(microseconds: duration) }
        let (counts, total) = (histogram.counts(below: [8, 64, 1_024, 4_096]), histogram.total)
        #expect(counts == [8, 56, 960, 3_072, 905])
        #expect(total == 5_000 * 5_001 / 2)
        histogram.reset()
        let (fewer, less) = (histogram.counts(below: [8]), histogram.total)
        #expect(fewer == [0, 0] && less == 0)
    }

    @Test(arguments: [Int64.min, -1, 0, 15, 16, 17, 1_048_575, 1_048_576, .max])
    func `any duration has a bucket`(duration: Int64) {
        let histogram = LatencyHistogram()
        histogram.record(microseconds: duration)
        let (median, maximum) = (histogram.quantile(0.5), histogram.maximum)
        #expect(median != nil)
        #expect(maximum == max(0, duration))
    }
}
