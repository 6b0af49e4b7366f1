import BeatTime
import Testing

@Suite
struct LogBucketsTests {
    @Test(arguments: [(3, 20, 144), (8, 27, 5_120)])
    func `each number is in the bucket that ends at or just after it`(bits: Int, octaves: Int, count: Int) {
        let buckets = LogBuckets(bits: bits, octaves: octaves)
        #expect(buckets.count == count)
        let powers = (0..<octaves).map { Int64(1) << Int64($0) }
        let numbers: [Int64] = powers + powers.map { $0 - 1 } + [700, 1_234]
        for number in numbers {
            let index = buckets.index(of: number)
            let end = buckets.upperEnd(of: index)
            let most = Double(number) * (1 + 1 / Double(1 << bits)) + 1
            #expect(end >= number && Double(end) <= most)
            #expect(index == 0 || buckets.upperEnd(of: index - 1) < number)
        }
        #expect(buckets.index(of: .max) == count - 1 && buckets.index(of: .min) == 0)
    }
}
