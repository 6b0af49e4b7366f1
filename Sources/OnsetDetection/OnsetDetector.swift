/// Finds where clicks and drum hits begin in a stream of samples.
///
/// It watches two bands in blocks of 0.5 ms: everything above 30 Hz, for kick drums, and everything above some
/// kilohertz, for hi-hats in hum. Where the energy rises suddenly, ``RiseFit`` finds the exact time, between samples if
/// possible.
///
/// A value: it reads no clock, and its memory does not grow.
package struct OnsetDetector: Sendable {
    private var history: SampleHistory
    private let sampleRate: Double
    /// Number of samples in a block.
    private let blockLength: Int
    private var blockCount = 0
    private var whole = BandEnergy()
    private var high = BandEnergy()
    private var highPass: HighPass
    private var previous = (0.0, 0.0)
    /// Sample number at the end of the block in which a sound was noticed; nil if no sound waits to be examined.
    private var noticed: Int?
    /// Sample number before which no other sound is noticed.
    private var deafUntil = 0
    /// Loudness of the loudest recent sound, which fades with time.
    private var loudest = RiseFit.Loudness()

    /// Length of a block, in seconds.
    private static let block = 0.000_5
    /// How long to wait after the beginning of a sound before it is examined, in seconds.
    private static let settling = 0.012
    /// Shortest time between two sounds, in seconds; sixteenths at 300 BPM are 50 ms apart.
    private static let deafness = 0.035
    /// Factor by which ``loudest`` falls with each block; it halves in 4 s.
    private let fading = 1 - 0.693 * block / 4
    /// A sound softer than this share of the loudest, 16 dB below it, is ignored as a reflection or rattle.
    private static let softest = 0.15
    /// Sounds softer than this are ignored: -60 dB of full scale.
    private static let faintest = 0.001

    /// Creates a detector.
    ///
    /// - Parameter sampleRate: samples per second, 8000 to 768 000.
    package init(sampleRate: Double) {
        self.sampleRate = sampleRate
        blockLength = max(4, Int(sampleRate * Self.block))
        history = SampleHistory(atLeast: Int(sampleRate * RiseFit.memory))
        highPass = HighPass(frequency: 30, sampleRate: sampleRate)
    }

    /// Processes samples of one channel.
    ///
    /// - Parameter samples: any number of samples; full scale is 1.
    /// - Returns: the sounds found; each is returned about 15 ms after it began.
    package mutating func take(_ samples: some Sequence<Float>) -> [Onset] {
        var onsets: [Onset] = []
        for sample in samples {
            if let onset = take(sample) { onsets.append(onset) }
        }
        return onsets
    }

    /// Ends the stream.
    ///
    /// - Returns: a sound that began just before the end, if any.
    package mutating func finish() -> Onset? {
        defer { noticed = nil }
        return noticed.flatMap { look(at: $0) }
    }

    private mutating func take(_ sample: Float) -> Onset? {
        history.append(sample)
        let value = history[history.count - 1]
        whole.add(highPass.filtered(value))
        // The second difference attenuates by 12 dB per octave towards low frequencies, so hum disappears.
        high.add(value - 2 * previous.0 + previous.1)
        previous = (value, previous.0)
        blockCount += 1
        return blockCount == blockLength ? endBlock() : nil
    }

    private mutating func endBlock() -> Onset? {
        let (isWhole, isHigh) = (whole.endBlock(of: blockLength), high.endBlock(of: blockLength))
        blockCount = 0
        loudest.whole *= fading
        loudest.bright *= fading
        if noticed == nil, isWhole || isHigh, history.count >= deafUntil { noticed = history.count }
        guard let place = noticed, history.count >= place + Int(Self.settling * sampleRate) else { return nil }
        noticed = nil
        deafUntil = place + Int(Self.deafness * sampleRate)
        return look(at: place)
    }

    private mutating func look(at place: Int) -> Onset? {
        let fit = RiseFit(history, sampleRate: sampleRate, around: place)
        guard let onset = fit.onset, onset.peak > Self.faintest,
            fit.loudness.whole > Self.softest * loudest.whole || fit.loudness.bright > Self.softest * loudest.bright
        else { return nil }
        loudest.whole = max(loudest.whole, fit.loudness.whole)
        loudest.bright = max(loudest.bright, fit.loudness.bright)
        return onset
    }
}

/// A high-pass filter with one pole.
struct HighPass: Sendable {
    private let share: Double
    private var input = 0.0
    private var output = 0.0

    init(frequency: Double, sampleRate: Double) {
        share = 1 / (1 + 2 * .pi * frequency / sampleRate)
    }

    mutating func filtered(_ value: Double) -> Double {
        output = share * (output + value - input)
        input = value
        return output
    }
}
