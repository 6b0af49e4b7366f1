/// The newest samples of a stream, numbered from its start.
struct SampleHistory: Sendable {
    /// A ring whose size is a power of two, so that the low bits of a sample's number are its index.
    private var samples: [Float]
    private let mask: Int
    /// Number of samples so far.
    private(set) var count = 0

    /// - Parameter least: the smallest number of samples to keep.
    init(atLeast least: Int) {
        var capacity = 1
        while capacity < least { capacity *= 2 }
        samples = [Float](repeating: 0, count: capacity)
        mask = capacity - 1
    }

    /// Adds the next sample.
    ///
    /// Files may contain any bit pattern: NaN and infinities count as silence.
    mutating func append(_ sample: Float) {
        samples[count & mask] = sample.isFinite ? min(max(sample, -Self.loudest), Self.loudest) : 0
        count += 1
    }

    /// A sample by its number; 0 if it is no longer kept or has not come yet.
    subscript(number: Int) -> Double {
        number < 0 || number >= count || number < count - samples.count ? 0 : Double(samples[number & mask])
    }

    /// The number of the oldest sample that is kept.
    var oldest: Int { max(0, count - samples.count) }

    /// A sample of at least this magnitude is clipped; the largest of a 16-bit converter is 0.99997.
    static let fullScale = 0.999
    /// Samples are limited to this; full scale is 1, but floating-point files may contain more.
    private static let loudest: Float = 16
}
