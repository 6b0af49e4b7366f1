/// Finds where clicks and drum hits begin in a stream of samples, between samples where the sound allows it.
///
/// Two bands are watched in blocks of half a millisecond: everything above 30 Hz, for kick drums, and what is above some
/// kilohertz, for hi-hats under hum. Where the energy leaps, ``RiseFit`` looks closely for the time.
///
/// A value: it reads no clock, and its memory does not grow.
package struct OnsetDetector: Sendable {
    private var history: SampleHistory
    private let sampleRate: Double
    /// Samples of a block.
    private let blockLength: Int
    private var blockCount = 0
    private var whole = BandEnergy()
    private var high = BandEnergy()
    private var highPass: HighPass
    private var previous = (0.0, 0.0)
    /// The block's end in which a beginning was noticed that is still to be looked at.
    private var noticed: Int?
    /// No other beginning is noticed before this sample.
    private var deafUntil = 0
    /// The loudest of late.
    private var loudest = RiseFit.Loudness()

    /// Seconds of a block.
    private static let block = 0.000_5
    /// Seconds after a beginning in which its peak lies, as far as its time needs it.
    private static let settling = 0.012
    /// Seconds after a beginning in which there is no other; sixteenths at 300 BPM are 50 ms apart.
    private static let deafness = 0.035
    /// What is left of ``loudest`` after a block: a half after 4 s.
    private let fading = 1 - 0.693 * block / 4
    /// What is softer than this share of the loudest is a reflection or a rattle, 16 dB below.
    private static let softest = 0.15
    /// What is softer than this is nothing, -60 dB of full scale.
    private static let faintest = 0.001

    /// A detector that has heard nothing.
    ///
    /// - Parameter sampleRate: samples a second, 8000 to 768 000.
    package init(sampleRate: Double) {
        self.sampleRate = sampleRate
        blockLength = max(4, Int(sampleRate * Self.block))
        history = SampleHistory(atLeast: Int(sampleRate * RiseFit.memory))
        highPass = HighPass(frequency: 30, sampleRate: sampleRate)
    }

    /// Takes in samples of one channel.
    ///
    /// - Parameter samples: any number of them; full scale is 1.
    /// - Returns: the sounds known to have begun, some 15 ms after they did.
    package mutating func take(_ samples: some Sequence<Float>) -> [Onset] {
        var onsets: [Onset] = []
        for sample in samples {
            if let onset = take(sample) { onsets.append(onset) }
        }
        return onsets
    }

    /// Ends the stream.
    ///
    /// - Returns: a sound that began at its very end.
    package mutating func finish() -> Onset? {
        defer { noticed = nil }
        return noticed.flatMap { look(at: $0) }
    }

    private mutating func take(_ sample: Float) -> Onset? {
        history.append(sample)
        let value = history[history.count - 1]
        whole.add(highPass.filtered(value))
        // A second difference: it rises by 12 dB an octave, so nothing is left of hum.
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

/// A filter of one pole that takes away what is slower than its frequency.
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
