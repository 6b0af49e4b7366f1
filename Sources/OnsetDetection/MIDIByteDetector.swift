/// Reads the bytes of a MIDI cable that has been recorded like a sound, with the times at which they began.
///
/// A byte is a start bit, eight bits from the lowest on, and a stop bit, of 32 us each. While nothing is sent the line
/// rests at one level; where a start bit leaves it, to either side, half way to the other level, the byte begins.
///
/// A value: it reads no clock, and its memory does not grow.
package struct MIDIByteDetector: Sendable {
    /// A byte and when its start bit began, in samples since the first of the stream.
    package struct Byte: Hashable, Sendable {
        package var value: UInt8
        package var time: Double
    }

    /// How many bytes were read.
    package private(set) var bytes = 0
    /// How often the line left its rest for something that is no byte.
    package private(set) var failures = 0
    /// Whether the recording clips.
    package private(set) var isClipped = false

    private var history: SampleHistory
    private let interpolation = SincInterpolation()
    /// Samples of a bit.
    private let bit: Double
    /// The sample to be looked at next.
    private var next = 0
    /// Where the line rests; a sound card's input drifts back to zero from any level.
    private var rest = 0.0
    /// How far the line lately went from its rest, in magnitude.
    private var swing = 0.0
    /// How far it is off its rest while nothing is sent, in magnitude.
    private var noise = 0.0
    /// Samples at the beginning in which no byte is looked for.
    private let learning: Int
    /// How fast ``rest`` and ``noise`` follow.
    private let restShare: Double
    /// How fast ``swing`` falls, so that a loud crack does not deafen for long.
    private let swingShare: Double

    private static let bitsPerSecond = 31_250.0
    /// Where in a bit its level is read.
    ///
    /// A little late, for square waves that were drawn without regard to what samples can hold: at 48 kHz the four low bits
    /// of a tick may then be seven samples, 4.56 bits.
    private static let middle = 0.58
    /// The line has left its rest at this share of its swing.
    private static let departure = 0.35
    /// Magnitudes below are no signal, -54 dB of full scale.
    private static let faintest = 0.002
    /// So many times the noise is no signal either.
    private static let noiseMargin = 6.0

    /// A detector that has heard nothing.
    ///
    /// - Parameter sampleRate: samples a second, 44 100 or more: of less a bit is too short to be seen.
    package init(sampleRate: Double) {
        bit = sampleRate / Self.bitsPerSecond
        history = SampleHistory(atLeast: 4 * Int(sampleRate / 1_000))
        learning = Int(0.005 * sampleRate)
        restShare = 1 / (0.002 * sampleRate)
        swingShare = 1 / (1.0 * sampleRate)
    }

    /// Takes in samples of one channel.
    ///
    /// - Parameter samples: any number of them; full scale is 1.
    /// - Returns: the bytes that are complete.
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

    /// Samples that must be there past one that may begin a byte.
    private var lookahead: Int { Int(10.5 * bit) + SincInterpolation.reach + 2 }

    /// Looks at the next sample for a byte that begins there.
    private mutating func look() -> Byte? {
        let value = history[next] - rest
        swing -= swing * swingShare
        // At first the rest and the noise are learnt, in ever smaller steps.
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
            // The rest may not be where it is thought to be.
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
    /// - Parameter side: 1 if bits that are 0 are above the rest, else -1.
    /// - Returns: the byte, how far the line went, and where it came back to from the rest; nil if it is none.
    private func read(side: Double) -> (byte: Byte, height: Double, end: Double)? {
        func level(_ time: Double) -> Double { side * (interpolation.value(of: history, at: time) - rest) }
        // As far as the line goes at any time; the edges ring, so the bits' own middles are better.
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

    /// How far the line goes from its rest in the bits to come.
    private func largest(for bits: Int) -> Double {
        (0..<Int(Double(bits) * bit)).reduce(0) { max($0, abs(history[next + $1] - rest)) }
    }

    /// Where the line crosses a level on its way from the rest.
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
