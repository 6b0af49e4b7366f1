/// The buckets of a histogram: one for each small number, and above an equal number in each octave.
///
/// With `bits` bits, numbers below 2^(bits + 1) have buckets of their own, and others are told apart to one in 2^bits.
package struct LogBuckets: Sendable {
    private let bits: Int
    /// The highest number that is told apart; higher ones count as this.
    private let highest: Int64

    /// Buckets for 0 up to, but without, 2^octaves, which is more than 2^(bits + 1).
    package init(bits: Int, octaves: Int) {
        (self.bits, highest) = (bits, Int64(1) << Int64(octaves) - 1)
    }

    package var count: Int { index(of: highest) + 1 }

    /// The bucket of a number; a negative one counts as 0.
    package func index(of number: Int64) -> Int {
        let number = min(max(0, number), highest)
        let octave = 63 - number.leadingZeroBitCount
        guard octave > bits else { return Int(number) }
        return (octave - bits) << bits + Int(number >> Int64(octave - bits))
    }

    /// The highest number in a bucket.
    package func upperEnd(of index: Int) -> Int64 {
        let octave = index >> bits - 1
        guard octave > 0 else { return Int64(index) }
        return Int64(index - octave << bits + 1) << Int64(octave) - 1
    }
}
