/// Finds the exact time at which a sound begins.
///
/// Going back from the sound's first peak, it finds the last time at which the sound was not yet louder than what came
/// before. For a drum, which rises slowly, a straight line extends the rise from there back to zero. For a click, which
/// rises within a few samples, the time is the middle of the rise.
struct RiseFit {
    /// The sound; nil if there is none.
    private(set) var onset: Onset?
    /// How loud the sound is.
    private(set) var loudness = Loudness()

    /// The largest magnitudes of a sound; 0 where it is not louder than what came before.
    struct Loudness: Sendable {
        /// Of the samples.
        var whole = 0.0
        /// Of the differences between successive samples, which show high frequencies.
        var bright = 0.0
    }

    /// Length of the past that is needed, in seconds; removing hum needs the samples 0.1 s earlier.
    static let memory = 0.17
    /// Time after which hum and all its harmonics repeat, in seconds: five periods of 50 Hz, six of 60 Hz.
    private static let humPeriod = 0.1
    /// Length of the part before the sound that it is compared with, in seconds.
    private static let before = 0.020
    /// Longest time between the beginning of a sound and `place`, in seconds.
    private static let lead = 0.006
    /// Time after `place` in which the sound's peak is looked for, in seconds.
    private static let after = 0.010
    /// How long a rise may dip below its level, in seconds, because an oscillation crosses zero.
    private static let dip = 0.000_25
    /// A rise of at most this many samples counts as a step; a converter's filter makes steps look that long.
    private static let step = 5.0
    /// Possible error of a step's time, in samples.
    static let stepError = 0.5
    /// Possible error of the extension to zero, as a multiple of its length; exact for a parabolic rise.
    static let curvature = 1.4
    /// Smallest and largest level at which a sound is taken to begin, as shares of its first peak.
    private static let fraction = 0.06...0.5
    /// Factor by which that level is above the largest magnitude before the sound.
    private static let margin = 1.3
    /// A sound must be at least this many times louder than what came before it.
    private static let leastClearness = 2.5

    /// Looks for a sound.
    ///
    /// - Parameters:
    ///   - history: must reach about 12 ms past `place`, and ``memory`` before it.
    ///   - sampleRate: samples per second.
    ///   - place: the number of the sample at which the sound was noticed.
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
        // Noise may hide the first part of a rise, so each time can only be too late. Use the earlier one.
        guard let clearest = clear.map(\.clearness).max() else { return }
        let trusted = clear.filter { $0.clearness >= min(2 * Self.leastClearness, clearest) }
        guard let rise = trusted.min(by: { $0.time < $1.time }) else { return }
        let peak = raw[quiet.upperBound...].reduce(0) { max($0, abs($1)) }
        onset = Onset(
            time: Double(start) + rise.time, error: rise.error, peak: peak, clearness: clearest,
            isClipped: peak >= SampleHistory.fullScale)
        loudness = Loudness(whole: rises[0]?.largest ?? 0, bright: rises[1]?.largest ?? 0)
    }

    /// Subtracts the mean of the part before the sound, and hum if there is any.
    private static func withoutHum(_ raw: [Double], quiet: Range<Int>, earlier: (Int) -> Double) -> [Double] {
        guard !quiet.isEmpty else { return raw }
        let mean = raw[quiet].reduce(0, +) / Double(quiet.count)
        let differences = raw.indices.map { raw[$0] - earlier($0) }
        func energy(_ values: ArraySlice<Double>, less mean: Double) -> Double {
            values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        }
        let offset = differences[quiet].reduce(0, +) / Double(quiet.count)
        // If there was another sound 0.1 s earlier, subtracting it would add it here instead.
        let isHum = energy(differences[quiet], less: offset) < energy(raw[quiet], less: mean) / 4
        return isHum ? differences.map { $0 - offset } : raw.map { $0 - mean }
    }

    /// The rise of a sound.
    private struct Rise {
        /// When it begins, in samples.
        var time: Double
        /// Possible error of the time, in samples.
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
            // A straight line through two levels reaches zero here; limited to the time between the two levels.
            let prolonged = min(1, level / (min(2 * level, 0.8 * height) - level)) * (high - low)
            time = low - prolonged
            error = RiseFit.stepError + RiseFit.curvature * prolonged
        }

        /// Where the magnitude last reached a level before a peak; dips shorter than `dip` samples are ignored.
        private static func crossing(of level: Double, before peak: Int, in values: [Double], dip: Int) -> Double {
            var first = peak
            var index = peak - 1
            while index >= 0, first - index <= dip {
                if abs(values[index]) >= level { first = index }
                index -= 1
            }
            return place(of: level, upTo: first, in: values)
        }

        /// Where the magnitude next reaches a level.
        private static func nextCrossing(of level: Double, after time: Double, in values: [Double]) -> Double {
            let first = Int(time.rounded(.up))
            guard let index = values.indices[max(0, first)...].first(where: { abs(values[$0]) >= level }) else {
                return time
            }
            return max(time, place(of: level, upTo: index, in: values))
        }

        /// The place of a level between the sample that reaches it and the one before.
        private static func place(of level: Double, upTo index: Int, in values: [Double]) -> Double {
            guard index > 0 else { return 0 }
            let (from, to) = (abs(values[index - 1]), abs(values[index]))
            guard to > from, from < level else { return Double(index) }
            return Double(index) - (to - level) / (to - from)
        }
    }
}
