import SoundCalibration

/// What was found by listening, for programs.
struct SoundFigures: Encodable {
    var offsetMilliseconds: Double
    var delayMicroseconds, uncertaintyMicroseconds, spreadMicroseconds: Double
    var driftMicrosecondsPerMinute: Double
    var used, rejected: Int
    var response: Double
    var reference: SoundResult.Reference
    var hits: [SoundResult.Delay]
    var verdict: String

    init(_ result: SoundResult) {
        offsetMilliseconds = ListeningText.offset(result)
        (delayMicroseconds, uncertaintyMicroseconds) = (result.delay, result.uncertainty)
        (spreadMicroseconds, driftMicrosecondsPerMinute) = (result.spread, result.drift)
        (used, rejected, response) = (result.used, result.rejected, result.response)
        (reference, hits, verdict) = (result.reference, result.hits, ListeningText.verdict(result))
    }
}
