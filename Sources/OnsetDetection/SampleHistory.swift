/// The newest samples of a stream, by their number since its first.
struct SampleHistory: Sendable {
    /// A power of two of them, so that a sample's place is its number's low bits.
    private var samples: [Float]
    private let mask: Int
    /// How many samples there have been.
    private(set) var count = 0

    /// - Parameter least: how many samples are kept at least.
    init(atLeast least: Int) {
        var capacity = 1
        while capacity < least { capacity *= 2 }
        samples = [Float](repeating: 0, count: capacity)
        mask = capacity - 1
    }

    /// Takes the next sample.
    ///
    /// Files may hold any pattern of bits: what is no number counts as silence.
    mutating func append(_ sample: Float) {
        samples[count & mask] = sample.isFinite ? min(max(sample, -Self.loudest), Self.loudest) : 0
        count += 1
    }

    /// A sample that is still kept; silence before the first and after the newest.
    subscript(number: Int) -> Double {
        number < 0 || number >= count || number < count - samples.count ? 0 : Double(samples[number & mask])
    }

    /// The number of the oldest sample that is kept.
    var oldest: Int { max(0, count - samples.count) }

    /// A magnitude that a converter of 16 bits ends at: the recording clips.
    static let fullScale = 0.999
    /// Full scale is 1; floating-point files may hold more.
    private static let loudest: Float = 16
}
