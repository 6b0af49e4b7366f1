internal import BeatTime

/// Decides how late a machine is, from the beats it was sent and the sounds heard.
///
/// The delay and its spread are measured first, while the clock is not moved. Then the clock is moved back and forth.
/// The sounds of the machine must move with it, equally far and on the same beat. Other sounds, such as a voice or a
/// clock on the wall, do not. All times are in microseconds.
package struct SoundJudgement {
    /// Sounds on the machine's channel.
    package var hits: [Hit]
    /// Sounds on the second channel; nil if there is none.
    package var other: Other?
    /// When each beat was sent.
    package var beats: [Double]
    /// How far the clock is moved.
    package var shift: Double
    /// The delay that the sound card adds; beside a second channel it cancels, and the result ignores it.
    package var inputLatency = 0.0
    /// The output's offset, without the moves.
    package var offset = 0.0
    /// Standard error of the sound card's clock, which is the same for all hits.
    package var clockError = 0.0
    /// The loudest sample on the machine's channel, in decibels of full scale; nil for silence.
    package var decibels: Double?

    /// What is heard on the second channel.
    package enum Other: Sendable {
        /// Sounds of another machine.
        case sounds([Hit])
        /// The ticks of a MIDI cable that mark the beats.
        case cable([Hit])
        /// A MIDI cable on which no Start was heard, so it is not known which ticks mark the beats.
        case cableWithoutStart

        var hits: [Hit] {
            switch self {
            case .sounds(let hits), .cable(let hits): hits
            case .cableWithoutStart: []
            }
        }
    }

    /// Number of beats at the start during which the clock is not moved.
    package static let measuredBeats = 48
    /// Number of beats from one move of the clock to the next.
    package static let shiftedBeats = 8
    /// Smallest and largest number of moves; the more the machine's timing varies, the more are needed.
    package static let movements = 4...40
    /// Number of beats after which sounds must have been heard.
    package static let firstLook = 16

    /// Largest number of sounds per beat that belong to no beat.
    private static let mostExtras = 0.3
    /// Largest delay, as a share of a beat; a larger one may be a hit programmed on another sixteenth.
    private static let unambiguous = 0.125
    /// Largest drift over the measured beats, in microseconds, besides what the machine's spread explains.
    private static let mostDrift = 1_000.0
    /// A hit that is more than this many standard deviations away from the median is an outlier.
    private static let stray = 5.0
    /// Smallest standard deviation that is trusted, in microseconds.
    private static let resolution = 20.0
    /// Largest difference of a response from 1, or from 0 for a sound that should not follow.
    private static let responseTolerance = 0.3
    /// Number of standard errors that count as certain.
    private static let certainty = 3.0

    /// The figures of the beats during which the clock was not moved.
    private struct Measured {
        var delays: [(beat: Int, delay: Double)]
        var median: Double
        /// Standard deviation of the delays from a straight line through them.
        var deviation: Double
        /// Median of the possible errors of the hits.
        var error: Double
        /// Growth of the delay, in microseconds per minute.
        var drift: Double
        /// Number of beats without a hit, of outliers, and of sounds that belong to no beat.
        var rejected: Int
    }

    /// Creates a judgement; the other properties may be set afterwards.
    package init(hits: [Hit], beats: [Double], shift: Double) {
        (self.hits, self.beats, self.shift) = (hits, beats, shift)
    }

    /// Smallest number of beats for a result.
    package static var leastBeats: Int { measuredBeats + movements.lowerBound * shiftedBeats }

    /// Number of beats after which a calibration without a result fails.
    package static var mostBeats: Int { measuredBeats + movements.upperBound * shiftedBeats }

    /// The result, or why there is none; nil if more beats are needed.
    package var outcome: Result<SoundResult, MeasurementFailure>? {
        do throws(MeasurementFailure) {
            if beats.count < Self.measuredBeats {
                try checkSound()
            } else if beats.count < Self.leastBeats {
                _ = try measuredDelays()
            } else if let result = try result() {
                return .success(result)
            } else if beats.count >= Self.mostBeats {
                throw .scattered(spread: try measuredDelays().0.deviation)
            }
            return nil
        } catch {
            return .failure(error)
        }
    }

    /// Throws if there are hardly any sounds, so that the user learns it after seconds and not after a minute.
    private func checkSound() throws(MeasurementFailure) {
        guard beats.count >= Self.firstLook else { return }
        try requireSound(BeatMatch(hits, beats))
    }

    private func requireSound(_ match: BeatMatch) throws(MeasurementFailure) {
        guard match.hasSound else { throw .noHits(heard: match.heard, beats: match.beats, decibels: decibels) }
    }

    /// Throws if too few beats have a sound.
    private func requireEvenness(_ match: BeatMatch) throws(MeasurementFailure) {
        guard !match.isRegular else { return }
        if let beat = match.silentAfter { throw .fellSilent(after: beat, beats: match.beats) }
        throw .uneven(matched: match.pairs.count, beats: match.beats)
    }

    /// Throws if too few beats have a sound on the second channel.
    private func requireReference(_ match: BeatMatch) throws(MeasurementFailure) {
        guard match.isRegular else { throw .noReference(matched: match.pairs.count, beats: match.beats) }
    }

    private func result() throws(MeasurementFailure) -> SoundResult? {
        let (own, compared) = try measuredDelays()
        let match = BeatMatch(hits, beats)
        try requireEvenness(match)
        let moved = try movement()
        let near = Self.stray * max(own.deviation, Self.resolution) + 1.5 * shift
        let pairs = match.pairs.filter { abs($0.delay - own.median) < near }
        let answer = response(of: pairs, to: moved)
        guard answer.error < Self.responseTolerance / Self.certainty else { return nil }
        guard abs(answer.response - 1) < Self.responseTolerance else {
            throw .doesNotFollow(response: answer.response)
        }
        let evidence = [-1, 1].map { certaintyOfBeat(pairs, insteadOf: $0) }
        if evidence.contains(where: { $0 < -Self.certainty }) { throw .wholeBeat }
        guard evidence.allSatisfy({ $0 > Self.certainty }) else { return nil }
        let reference = try self.reference(moved)
        guard let reference else { return nil }
        let delays = compared ?? own
        let delay = delays.median - (compared == nil ? inputLatency : 0)
        let errors = own.error + (compared?.error ?? 0)
        let statistical = 1.2533 * delays.deviation / Double(delays.delays.count).squareRoot()
        let clock = compared == nil ? clockError : 0
        return SoundResult(
            delay: delay, uncertainty: 2 * (statistical * statistical + clock * clock).squareRoot() + errors,
            spread: own.deviation, drift: delays.drift, used: delays.delays.count, rejected: own.rejected,
            response: answer.response, offset: (reference == .machine ? offset : 0) - delay, reference: reference,
            hits: delays.delays.map { SoundResult.Delay(beat: $0.beat, microseconds: $0.delay) })
    }

    /// Measures the delays during the beats at which the clock was not moved.
    ///
    /// - Returns: the delays after the beat, and the delays after the second channel's sounds if there are any.
    /// - Throws: why the delays do not count.
    private func measuredDelays() throws(MeasurementFailure) -> (Measured, compared: Measured?) {
        let sent = Array(beats.prefix(Self.measuredBeats))
        let match = BeatMatch(hits, sent)
        try requireSound(match)
        try requireEvenness(match)
        guard Double(match.extras) <= Self.mostExtras * Double(match.beats) else {
            throw .several(perBeat: Double(match.heard) / Double(match.beats))
        }
        guard 2 * match.pairs.count(where: { $0.hit.isClipped }) <= match.pairs.count else { throw .clipping }
        let own = measure(match.pairs.map { ($0.beat, $0.delay, $0.hit.error) }, match)
        var compared: Measured?
        if let other {
            if case .cableWithoutStart = other { throw .noStart }
            let reference = BeatMatch(other.hits, sent)
            try requireReference(reference)
            let both = compare(match, with: reference)
            guard 2 * both.delays.count > sent.count else {
                throw .noReference(matched: both.delays.count, beats: sent.count)
            }
            compared = both
        }
        let ownFailure = beatFailure(own, delay: own.median - inputLatency, match.interval)
        guard let compared else {
            if let ownFailure { throw ownFailure }
            return (own, nil)
        }
        // The card's latency is part of the machine's own delay, which may be too large for that reason alone. It
        // cancels in the comparison, so only the comparison decides.
        if let failure = beatFailure(compared, delay: compared.median, match.interval) {
            throw ownFailure == nil ? .strangeReference : failure
        }
        return (own, compared)
    }

    /// Why a delay does not count, because it is too large or because it drifts; nil if it counts.
    private func beatFailure(_ measured: Measured, delay: Double, _ interval: Double) -> MeasurementFailure? {
        guard abs(delay) <= Self.unambiguous * interval else {
            return .wrongBeat(microseconds: delay, interval: interval)
        }
        let minutes = Double(Self.measuredBeats) * interval / 60_000_000
        let most = Self.mostDrift + Self.certainty * measured.deviation * (12 / Double(Self.measuredBeats)).squareRoot()
        return abs(measured.drift) * minutes <= most ? nil : .drift(perMinute: measured.drift)
    }

    /// Removes outliers from delays, and computes their figures.
    private func measure(_ delays: [(beat: Int, delay: Double, error: Double)], _ match: BeatMatch) -> Measured {
        let middle = median(delays.map(\.delay))
        let most = Self.stray * max(robustDeviation(delays.map(\.delay)), Self.resolution)
        let kept = delays.filter { abs($0.delay - middle) <= most }
        let line = LineFit(kept.map { (Double($0.beat), $0.delay) })
        return Measured(
            delays: kept.map { ($0.beat, $0.delay) }, median: median(kept.map(\.delay)), deviation: line.deviation,
            error: median(kept.map(\.error)), drift: line.slope * 60_000_000 / match.interval,
            rejected: match.beats - kept.count + match.extras)
    }

    /// Measures how much later the machine's hits are than those on the second channel.
    ///
    /// Hits of the two channels that belong together may be assigned to different beats, if they are about half a beat
    /// late. Each hit is therefore compared with the other channel's hit that is nearest.
    private func compare(_ match: BeatMatch, with others: BeatMatch) -> Measured {
        let apart = match.phase - others.phase
        let around = (apart / match.interval).rounded()
        let byBeat = Dictionary(uniqueKeysWithValues: others.pairs.map { ($0.beat, $0.hit) })
        let delays = match.pairs.compactMap { pair -> (beat: Int, delay: Double, error: Double)? in
            guard let other = byBeat[pair.beat + Int(around)] else { return nil }
            return (pair.beat, pair.hit.time - other.time, other.error)
        }
        return measure(delays, match)
    }

    /// How far each beat was moved, in microseconds from a straight line through all beats.
    ///
    /// - Throws: if the tempo changed, or if the clock was not moved.
    private func movement() throws(MeasurementFailure) -> [Double] {
        let line = LineFit(beats.enumerated().map { (Double($0), $1) })
        let moved = beats.enumerated().map { $1 - line.value(at: Double($0)) }
        guard moved.allSatisfy({ abs($0) < 3 * shift }) else { throw .tempoChanged }
        guard line.deviation > 0.2 * shift else { throw .clockUnmoved }
        return moved
    }

    /// How far hits move for each microsecond that the clock is moved, and the standard error of that.
    private func response(of pairs: [BeatMatch.Pair], to moved: [Double]) -> (response: Double, error: Double) {
        let line = LineFit(pairs.map { (Double($0.beat), $0.delay) })
        let fit = LineFit(pairs.map { (moved[$0.beat], $0.delay - line.value(at: Double($0.beat))) })
        return (1 + fit.slope, fit.slopeError)
    }

    /// How certain it is that hits belong to the beats they are assigned to, in standard errors.
    ///
    /// A hit moves when its own beat is moved. If hits belonged to the previous beat, for example, they would move one
    /// beat later than the beats they are assigned to.
    ///
    /// - Parameters:
    ///   - pairs: hits and the beats they are assigned to.
    ///   - distance: how many beats later the beat is that they might belong to instead; negative if earlier.
    /// - Returns: a negative number if they rather belong to that other beat.
    private func certaintyOfBeat(_ pairs: [BeatMatch.Pair], insteadOf distance: Int) -> Double {
        let pairs = pairs.filter { beats.indices.contains($0.beat + distance) }
        let own = Self.straight(pairs.map { (Double($0.beat), $0.delay) })
        let other = Self.straight(pairs.map { (Double($0.beat), $0.hit.time - beats[$0.beat + distance]) })
        func squares(_ values: [Double]) -> Double { values.reduce(0) { $0 + $1 * $1 } }
        let difference = squares(zip(own, other).map { $0 - $1 }).squareRoot()
        let rest = min(squares(own), squares(other)) / Double(max(1, pairs.count - 2))
        let deviation = max(rest.squareRoot(), Self.resolution)
        return (squares(other) - squares(own)) / max(2 * deviation * difference, .leastNormalMagnitude)
    }

    /// The distances of points from the straight line through them.
    private static func straight(_ points: [(x: Double, y: Double)]) -> [Double] {
        let line = LineFit(points)
        return points.map { $0.y - line.value(at: $0.x) }
    }

    /// What the delay is measured against; nil if more beats are needed.
    private func reference(_ moved: [Double]) throws(MeasurementFailure) -> SoundResult.Reference? {
        guard let other else { return .beat }
        let match = BeatMatch(other.hits, beats)
        try requireReference(match)
        let answer = response(of: match.pairs, to: moved)
        guard answer.error < Self.responseTolerance / Self.certainty else { return nil }
        if abs(answer.response) < Self.responseTolerance { return .machine }
        guard abs(answer.response - 1) < Self.responseTolerance else {
            throw .unclearReference(response: answer.response)
        }
        // The other machine follows the same clock with an unknown delay. Only a cable shows when the clock came.
        guard case .cable = other else { throw .sameClock }
        return .ownClock
    }
}
