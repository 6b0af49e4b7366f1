/// Looks closely at the place where a sound begins, for when exactly it does.
///
/// Going back from the sound's first peak, the last moment is found at which it did not yet stand out from what was
/// there before. A drum's rise is prolonged from there to zero by a straight line; of a click that rises within two
/// samples the middle of the rise is taken, which is where a converter puts the step between two samples.
struct RiseFit {
    /// The sound, if there is one.
    private(set) var onset: Onset?
    /// How loud it is where it stands out: as it is, and by how much one sample differs from the next.
    private(set) var loudness = Loudness()

    /// The largest magnitudes of a sound; 0 where it does not stand out.
    struct Loudness: Sendable {
        var whole = 0.0
        var bright = 0.0
    }

    /// Seconds of the past that are looked at: hum is taken away by what was there 0.1 s before.
    static let memory = 0.17
    /// Five waves of 50 Hz, six of 60 Hz: hum and all its harmonics repeat in it, wherever mains are.
    private static let humPeriod = 0.1
    /// Seconds before the place to be looked at in which there is nothing of the sound yet.
    private static let before = 0.020
    /// How far before the place it may have begun.
    private static let lead = 0.006
    /// Seconds after the place in which the sound's peak is looked for.
    private static let after = 0.010
    /// Seconds for which a rise may dip: an oscillation crosses zero.
    private static let dip = 0.000_25
    /// What rises within so many samples rises at once: it looks longer since a converter's filter rings before it.
    private static let step = 5.0
    /// How far the time of a step may be off, in samples.
    static let stepError = 0.5
    /// What is prolonged by a straight line is so many times as long, if the sound rises like a parabola.
    static let curvature = 1.4
    /// Where on its way to the first peak a sound is said to stand out, at the least and at the most.
    private static let fraction = 0.06...0.5
    /// It stands out if it is so many times larger than the largest before.
    private static let margin = 1.3
    /// The least that a sound is louder than what is before it.
    private static let leastClearness = 2.5

    /// Looks for a sound.
    ///
    /// - Parameters:
    ///   - history: some 12 ms past the place, and ``memory`` before.
    ///   - sampleRate: samples a second.
    ///   - place: the number of the sample by which it was noticed.
    init(_ history: SampleHistory, sampleRate: Double, around place: Int) {
        func samples(_ seconds: Double) -> Int { Int((seconds * sampleRate).rounded()) }
        let start = max(history.oldest, place - samples(Self.lead + Self.before))
        let quietEnd = max(start, place - samples(Self.lead))
        let end = min(history.count, place + samples(Self.after))
        guard end - quietEnd > 4 else { return }
        let raw = (start..<end).map { history[$0] }
        let quiet = 0..<(quietEnd - start)
        let wave = Self.withoutHum(raw, quiet: quiet) { history[start + $0 - samples(Self.humPeriod)] }
        let bright = raw.indices.map { $0 < 1 ? 0 : raw[$0] - raw[$0 - 1] }
        let dip = samples(Self.dip)
        let rises = [wave, bright].map { Rise(of: $0, quiet: quiet, dip: dip) }
        let clear = rises.compactMap { $0 }
        // Both err by being late, where the sound is not yet louder than what else is there.
        guard let clearest = clear.map(\.clearness).max() else { return }
        let trusted = clear.filter { $0.clearness >= min(2 * Self.leastClearness, clearest) }
        guard let rise = trusted.min(by: { $0.time < $1.time }) else { return }
        let peak = raw[quiet.upperBound...].reduce(0) { max($0, abs($1)) }
        onset = Onset(
            time: Double(start) + rise.time, error: rise.error, peak: peak, clearness: clearest,
            isClipped: peak >= SampleHistory.fullScale)
        loudness = Loudness(whole: rises[0]?.largest ?? 0, bright: rises[1]?.largest ?? 0)
    }

    /// Takes away the mean of what was before the sound, and hum if there is any.
    private static func withoutHum(_ raw: [Double], quiet: Range<Int>, earlier: (Int) -> Double) -> [Double] {
        guard !quiet.isEmpty else { return raw }
        let mean = raw[quiet].reduce(0, +) / Double(quiet.count)
        let differences = raw.indices.map { raw[$0] - earlier($0) }
        func energy(_ values: ArraySlice<Double>, less mean: Double) -> Double {
            values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        }
        let offset = differences[quiet].reduce(0, +) / Double(quiet.count)
        // Another sound 0.1 s earlier would be put in, not taken away.
        let isHum = energy(differences[quiet], less: offset) < energy(raw[quiet], less: mean) / 4
        return isHum ? differences.map { $0 - offset } : raw.map { $0 - mean }
    }

    /// The rise of a sound in samples that have nothing else of note in them.
    private struct Rise {
        /// Where it begins, in samples.
        var time: Double
        /// How far that may be off.
        var error: Double
        var clearness: Double
        var largest: Double

        init?(of values: [Double], quiet: Range<Int>, dip: Int) {
            let noise = quiet.reduce(0) { max($0, abs(values[$1])) }
            let loud = values.indices[quiet.upperBound...]
            let largest = loud.reduce(0) { max($0, abs(values[$1])) }
            self.largest = largest
            clearness = largest / max(noise, largest / 1_000_000)
            guard largest > 0, clearness >= RiseFit.leastClearness else { return nil }
            guard var peak = loud.first(where: { abs(values[$0]) >= largest / 2 }) else { return nil }
            while peak + 1 < loud.upperBound, abs(values[peak + 1]) > abs(values[peak]) { peak += 1 }
            let height = abs(values[peak])
            let bounds = RiseFit.fraction
            let level = min(max(RiseFit.margin * noise, bounds.lowerBound * height), bounds.upperBound * height)
            let low = Self.crossing(of: level, before: peak, in: values, dip: dip)
            guard Double(peak) - low > RiseFit.step else {
                time = Self.crossing(of: height / 2, before: peak, in: values, dip: 1)
                error = RiseFit.stepError
                return
            }
            let high = Self.nextCrossing(of: min(2 * level, 0.8 * height), after: low, in: values)
            // What a straight line makes of two levels, no further back than the lower is from the higher.
            let prolonged = min(1, level / (min(2 * level, 0.8 * height) - level)) * (high - low)
            time = low - prolonged
            error = RiseFit.stepError + RiseFit.curvature * prolonged
        }

        /// Where the magnitude last came up to a level, going back from a peak over dips of some samples.
        private static func crossing(of level: Double, before peak: Int, in values: [Double], dip: Int) -> Double {
            var first = peak
            var index = peak - 1
            while index >= 0, first - index <= dip {
                if abs(values[index]) >= level { first = index }
                index -= 1
            }
            return place(of: level, upTo: first, in: values)
        }

        /// Where the magnitude next comes up to a level.
        private static func nextCrossing(of level: Double, after time: Double, in values: [Double]) -> Double {
            let first = Int(time.rounded(.up))
            guard let index = values.indices[max(0, first)...].first(where: { abs(values[$0]) >= level }) else {
                return time
            }
            return max(time, place(of: level, upTo: index, in: values))
        }

        /// Between a sample that reaches a level and the one before.
        private static func place(of level: Double, upTo index: Int, in values: [Double]) -> Double {
            guard index > 0 else { return 0 }
            let (from, to) = (abs(values[index - 1]), abs(values[index]))
            guard to > from, from < level else { return Double(index) }
            return Double(index) - (to - level) / (to - from)
        }
    }
}
