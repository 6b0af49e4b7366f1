/// Reads MIDI bytes and their times from a cable that was recorded as sound.
///
/// A byte is a start bit, eight data bits, lowest first, and a stop bit; each lasts 32 us. While nothing is sent, the
/// line rests at one level. A byte begins where the start bit is halfway from that level to the other one, which may be
/// higher or lower.
///
/// A value: it reads no clock, and its memory does not grow.
package struct MIDIByteDetector: Sendable {
    /// A byte and when its start bit began, in samples since the first of the stream.
    package struct Byte: Hashable, Sendable {
        package var value: UInt8
        package var time: Double
    }

    /// Number of bytes read.
    package private(set) var bytes = 0
    /// How often the line left its resting level without a valid byte.
    package private(set) var failures = 0
    /// Whether any sample has clipped so far.
    package private(set) var isClipped = false

    private var history: SampleHistory
    private let interpolation = SincInterpolation()
    /// Length of a bit, in samples.
    private let bit: Double
    /// Number of the next sample to check for the beginning of a byte.
    private var next = 0
    /// The line's resting level, which drifts because a sound card's input returns to zero from any level.
    private var rest = 0.0
    /// How far the line has recently gone from its resting level.
    private var swing = 0.0
    /// How far the line is from its resting level while nothing is sent.
    private var noise = 0.0
    /// Number of samples at the beginning in which no byte is looked for.
    private let learning: Int
    /// Share of its error by which each sample corrects ``rest`` and ``noise``; the time constant is 2 ms.
    private let restShare: Double
    /// Share by which ``swing`` falls with each sample; the time constant is 1 s.
    ///
    /// Otherwise a loud crack could hide the bytes after it for long.
    private let swingShare: Double

    private static let bitsPerSecond = 31_250.0
    /// Where in a bit its level is read, 0 to 1.
    ///
    /// It is a little after the middle. In square waves made without a filter, edges lie only on samples. At 48 kHz the
    /// start bit and the three zero bits of a tick may then last seven samples, which is 4.56 bits instead of 4, and
    /// the next bit would be read wrong at 4.5.
    private static let middle = 0.58
    /// The line has left its resting level when it is farther away than this share of ``swing``.
    private static let departure = 0.35
    /// Smaller magnitudes are not a signal: -54 dB of full scale.
    private static let faintest = 0.002
    /// Magnitudes below this multiple of ``noise`` are not a signal either.
    private static let noiseMargin = 6.0

    /// Creates a detector.
    ///
    /// - Parameter sampleRate: samples per second, at least 44 100; with fewer, bits are too short to be read.
    package init(sampleRate: Double) {
        bit = sampleRate / Self.bitsPerSecond
        history = SampleHistory(atLeast: 4 * Int(sampleRate / 1_000))
        learning = Int(0.005 * sampleRate)
        restShare = 1 / (0.002 * sampleRate)
        swingShare = 1 / (1.0 * sampleRate)
    }

    /// Processes samples of one channel.
    ///
    /// - Parameter samples: any number of samples; full scale is 1.
    /// - Returns: the bytes that are now complete.
    package mutating func take(_ samples: some Sequence<Float>) -> [Byte] {
        var found: [Byte] = []
        for sample in samples {
            history.append(sample)
            if abs(sample) >= Float(SampleHistory.fullScale) { isClipped = true }
            guard history.count >= next + lookahead else { continue }
            if let byte = look() { found.append(byte) }
        }
        return found
    }

    /// Ends the stream.
    ///
    /// - Returns: a byte at its very end.
    package mutating func finish() -> [Byte] { take([Float](repeating: Float(rest), count: lookahead)) }

    /// Counts bytes, failures and clipped samples anew; what it has learned about the line stays.
    package mutating func countAnew() { (bytes, failures, isClipped) = (0, 0, false) }

    /// Number of later samples needed to check whether a byte begins at a sample.
    private var lookahead: Int { Int(10.5 * bit) + SincInterpolation.reach + 2 }

    /// Checks whether a byte begins at the next sample.
    private mutating func look() -> Byte? {
        let value = history[next] - rest
        swing -= swing * swingShare
        // At first, learn the resting level and the noise quickly, in ever smaller steps.
        let restShare = max(restShare, 1 / Double(next + 1))
        guard next >= learning,
            abs(value) > max(Self.faintest, Self.noiseMargin * noise, Self.departure * swing),
            abs(value) > Self.departure * largest(for: 9)
        else {
            rest += value * restShare
            noise += (abs(value) - noise) * restShare
            next += 1
            return nil
        }
        guard let (byte, height, end) = read(side: value > 0 ? 1 : -1) else {
            failures += 1
            // The estimated resting level may be wrong.
            rest += value * 4 * restShare
            next += max(1, Int(bit))
            return nil
        }
        bytes += 1
        swing = swing == 0 ? height : swing + (height - swing) * 0.1
        rest += end * 0.1
        next = Int((byte.time + 9.5 * bit).rounded(.up))
        return byte
    }

    /// Reads a byte.
    ///
    /// - Parameter side: 1 if zero bits are above the resting level, otherwise -1.
    /// - Returns: the byte, how far the line went, and its level in the stop bit, both relative to the resting level;
    ///   nil if it is not a valid byte.
    private func read(side: Double) -> (byte: Byte, height: Double, end: Double)? {
        func level(_ time: Double) -> Double { side * (interpolation.value(of: history, at: time) - rest) }
        // Begin with the largest value. It is too high because edges overshoot, so then use the levels in the bits.
        var height = largest(for: 9)
        var start = Double(next)
        var levels: [Double] = []
        for _ in 0..<2 {
            guard let edge = edge(height / 2, level) else { return nil }
            start = edge
            levels = (0..<10).map { level(start + (Double($0) + Self.middle) * bit) }
            let low = levels.filter { $0 > height / 2 }
            guard !low.isEmpty else { return nil }
            height = low.reduce(0, +) / Double(low.count)
        }
        let isZero = levels.map { $0 > height / 2 }
        guard isZero[0], !isZero[9], levels.allSatisfy({ $0 > -0.5 * height }) else { return nil }
        let value = (0..<8).reduce(UInt8(0)) { isZero[$1 + 1] ? $0 : $0 | 1 << $1 }
        return (Byte(value: value, time: start), height, side * levels[9])
    }

    /// How far the line goes from its resting level within the next bits.
    private func largest(for bits: Int) -> Double {
        (0..<Int(Double(bits) * bit)).reduce(0) { max($0, abs(history[next + $1] - rest)) }
    }

    /// The time at which the line crosses a level on its way from the resting level; nil if it does not.
    private func edge(_ height: Double, _ level: (Double) -> Double) -> Double? {
        var (early, late) = (Double(next) - bit, Double(next))
        while level(late) < height {
            late += 0.25 * bit
            guard late < Double(next) + bit else { return nil }
        }
        guard level(early) < height else { return nil }
        for _ in 0..<12 {
            let middle = (early + late) / 2
            if level(middle) < height { early = middle } else { late = middle }
        }
        return (early + late) / 2
    }
}
