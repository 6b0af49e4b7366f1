/// Decides what is known of a machine from the beats it was sent and the sounds it made.
///
/// At first the clock is left alone: from those beats the delay and its spread are taken. Then the clock is moved
/// to and fro, and the sounds must follow it, by as much and on the same beat. Whatever else may be heard, from a clock
/// on the wall to a voice, does not.
package struct SoundJudgement {
    /// Sounds of the machine, in microseconds like all times here.
    package var hits: [Hit]
    /// What it is compared with, or nothing.
    package var other: Other?
    /// When each beat was sent.
    package var beats: [Double]
    /// By how much the clock is moved.
    package var shift: Double
    /// What the sound card adds to each delay; of no account if it is compared.
    package var inputLatency = 0.0
    /// The output's offset while it is left alone.
    package var offset = 0.0
    /// Standard error of the times of all hits together.
    package var clockError = 0.0
    /// Decibels of the loudest sample.
    package var decibels: Double?

    /// What is heard on the second channel.
    package enum Other: Sendable {
        /// Sounds of another machine.
        case sounds([Hit])
        /// The ticks of a MIDI cable that are on the beats.
        case cable([Hit])
        /// A MIDI cable on which no Start was heard, so that nothing says which tick is on a beat.
        case cableWithoutStart

        var hits: [Hit] {
            switch self {
            case .sounds(let hits), .cable(let hits): hits
            case .cableWithoutStart: []
            }
        }
    }

    /// Beats with the clock left alone.
    package static let measuredBeats = 48
    /// Beats after which the clock is moved again.
    package static let shiftedBeats = 8
    /// How often it is moved at least, and at most, if the machine's spread hides that it follows.
    package static let movements = 4...40
    /// After so many beats there must be a sound.
    package static let firstLook = 16

    /// So many sounds a beat may belong to none.
    private static let mostExtras = 0.3
    /// A delay is told up to this share of a beat; more may be a hit programmed on another sixteenth.
    private static let unambiguous = 0.125
    /// Drift that is let pass, in microseconds over the time measured.
    private static let mostDrift = 1_000.0
    /// What is farther from the median than so many deviations is a stray.
    private static let stray = 5.0
    /// Deviations are not trusted to be smaller than this, in microseconds.
    private static let resolution = 20.0
    /// By how much the response may differ from 1.
    private static let responseTolerance = 0.3
    /// So many standard errors make a certainty.
    private static let certainty = 3.0

    /// What the undisturbed beats tell.
    private struct Measured {
        var delays: [(beat: Int, delay: Double)]
        var median: Double
        var deviation: Double
        var error: Double
        var drift: Double
        var rejected: Int
    }

    /// Prepares to judge; the rest may be set.
    package init(hits: [Hit], beats: [Double], shift: Double) {
        (self.hits, self.beats, self.shift) = (hits, beats, shift)
    }

    /// Beats that there must be for a result.
    package static var leastBeats: Int { measuredBeats + movements.lowerBound * shiftedBeats }

    /// Beats after which there is one, or none.
    package static var mostBeats: Int { measuredBeats + movements.upperBound * shiftedBeats }

    /// What can be said by now; nil if more beats would tell.
    package var outcome: Result<SoundResult, SoundDoubt>? {
        do throws(SoundDoubt) {
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

    /// Sees whether there are sounds at all: better after some seconds than after a minute.
    private func checkSound() throws(SoundDoubt) {
        guard beats.count >= Self.firstLook else { return }
        try requireSound(BeatMatch(hits, beats))
    }

    private func requireSound(_ match: BeatMatch) throws(SoundDoubt) {
        guard match.hasSound else { throw .noHits(heard: match.heard, beats: match.beats, decibels: decibels) }
    }

    /// Throws if too few beats have a sound.
    private func requireEvenness(_ match: BeatMatch) throws(SoundDoubt) {
        guard !match.isRegular else { return }
        if let beat = match.silentAfter { throw .fellSilent(after: beat, beats: match.beats) }
        throw .uneven(matched: match.pairs.count, beats: match.beats)
    }

    /// Throws if a second channel has no sound on the beats.
    private func requireReference(_ match: BeatMatch) throws(SoundDoubt) {
        guard match.isRegular else { throw .noReference(matched: match.pairs.count, beats: match.beats) }
    }

    private func result() throws(SoundDoubt) -> SoundResult? {
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

    /// The delays of the undisturbed beats: behind the beat, and behind the others' sounds if there are any.
    private func measuredDelays() throws(SoundDoubt) -> (Measured, compared: Measured?) {
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
        let ownDoubt = beatDoubt(own, delay: own.median - inputLatency, match.interval)
        guard let compared else {
            if let ownDoubt { throw ownDoubt }
            return (own, nil)
        }
        // The machine may be late by what the card adds, and yet be together with the other.
        if let doubt = beatDoubt(compared, delay: compared.median, match.interval) {
            throw ownDoubt == nil ? .strangeReference : doubt
        }
        return (own, compared)
    }

    /// Why sounds are on no beat, or move away from it; nil if neither.
    private func beatDoubt(_ measured: Measured, delay: Double, _ interval: Double) -> SoundDoubt? {
        guard abs(delay) <= Self.unambiguous * interval else {
            return .wrongBeat(microseconds: delay, interval: interval)
        }
        let minutes = Double(Self.measuredBeats) * interval / 60_000_000
        let most = Self.mostDrift + Self.certainty * measured.deviation * (12 / Double(Self.measuredBeats)).squareRoot()
        return abs(measured.drift) * minutes <= most ? nil : .drift(perMinute: measured.drift)
    }

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

    /// By how much hits come after others' on the same beat, whole beats apart or not.
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

    /// By how much each beat was moved, in microseconds, from a straight line through all of them.
    private func movement() throws(SoundDoubt) -> [Double] {
        let line = LineFit(beats.enumerated().map { (Double($0), $1) })
        let moved = beats.enumerated().map { $1 - line.value(at: Double($0)) }
        guard moved.allSatisfy({ abs($0) < 3 * shift }) else { throw .tempoChanged }
        guard line.deviation > 0.2 * shift else { throw .clockUnmoved }
        return moved
    }

    /// By how much hits move if the clock moves by 1.
    private func response(of pairs: [BeatMatch.Pair], to moved: [Double]) -> (response: Double, error: Double) {
        let line = LineFit(pairs.map { (Double($0.beat), $0.delay) })
        let fit = LineFit(pairs.map { (moved[$0.beat], $0.delay - line.value(at: Double($0.beat))) })
        return (1 + fit.slope, fit.slopeError)
    }

    /// How certain it is that hits belong to the beats they are nearest to, in standard errors.
    ///
    /// When the clock moves, a hit moves with its own beat. If it were that of another beat, it would move earlier or
    /// later than the beat it is nearest to.
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

    /// Values less the straight line through them.
    private static func straight(_ points: [(x: Double, y: Double)]) -> [Double] {
        let line = LineFit(points)
        return points.map { $0.y - line.value(at: $0.x) }
    }

    /// What the delay is measured against; nil if more beats would tell.
    private func reference(_ moved: [Double]) throws(SoundDoubt) -> SoundResult.Reference? {
        guard let other else { return .beat }
        let match = BeatMatch(other.hits, beats)
        try requireReference(match)
        let answer = response(of: match.pairs, to: moved)
        guard answer.error < Self.responseTolerance / Self.certainty else { return nil }
        if abs(answer.response) < Self.responseTolerance { return .machine }
        guard abs(answer.response - 1) < Self.responseTolerance else {
            throw .unclearReference(response: answer.response)
        }
        // A machine's own delay is not known, so only a cable tells when the clock came.
        guard case .cable = other else { throw .sameClock }
        return .ownClock
    }
}
