package import SoundCalibration

/// The result of a calibration by listening; its property names are JSON keys that programs read.
package struct ListeningFigures: Codable, Hashable, Sendable {
    /// The offset that the output must have, in milliseconds, rounded to a hundredth.
    package var offsetMilliseconds: Double
    package var delayMicroseconds, uncertaintyMicroseconds, spreadMicroseconds: Double
    package var driftMicrosecondsPerMinute: Double
    package var used, rejected: Int
    /// How far the sound moved for each microsecond that the clock was moved; 1 if it follows exactly.
    package var response: Double
    package var reference: SoundResult.Reference
    package var hits: [SoundResult.Delay]
    package var verdict: String

    package init(_ result: SoundResult) {
        offsetMilliseconds = 0 + (result.offset / 10).rounded() / 100
        (delayMicroseconds, uncertaintyMicroseconds) = (result.delay, result.uncertainty)
        (spreadMicroseconds, driftMicrosecondsPerMinute) = (result.spread, result.drift)
        (used, rejected, response) = (result.used, result.rejected, result.response)
        (reference, hits, verdict) = (result.reference, result.hits, Self.verdict(result))
    }

    /// What the figures mean to a musician.
    private static func verdict(_ result: SoundResult) -> String {
        let timing =
            switch result.spread {
            case ..<300: "steady: nobody hears that"
            case ..<1_000: "good: as drum machines are"
            case ..<3_000: "loose: an offset puts it right on average, single hits will be off"
            default: "uneven: an offset does little, the machine itself varies more"
            }
        return result.uncertainty > 1_000
            ? "\(timing); measured roughly: a shorter, drier, louder sound tells more" : timing
    }
}
