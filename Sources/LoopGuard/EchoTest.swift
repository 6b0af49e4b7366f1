internal import MIDIClock

/// Tests whether arrivals repeat a probe's coin tosses at some lag, as only an echo can.
///
/// It bets on the tosses. A source that does not know them sends ticks independent of them, so each toss is a fair
/// coin. Betting a share s of the stake on an early or late tick multiplies the stake by 1 + s or 1 - s. Whatever
/// shares the arrivals suggest, the expected stake stays 1. By Ville's inequality it reaches a billion with probability
/// below 10^-9, whatever the leader's tempo and jitter. With an echo the stake nearly doubles with every tick.
struct EchoTest: Sendable {
    enum Outcome: Hashable, Sendable {
        case open
        case echo
        case noEcho
    }

    let probe: Probe
    /// Ticks between sending a tick and the arrival it is compared with.
    let lags: ClosedRange<Int64>
    private var tallies: [Tally]

    /// The evidence so far for one lag.
    private struct Tally: Sendable {
        /// Natural logarithm of the stake.
        var stake = 0.0
        /// Sum of tosses times distances, in probe amplitudes.
        var agreement = 0.0
        /// Sum of squared distances, in squared probe amplitudes.
        var power = 0.0
        var count = 0.0
    }

    /// Natural logarithm of a billion: the odds required before a source is fenced.
    private static let billion = 20.72
    /// Arrivals judged together: two beats.
    static let segmentLength = 48
    /// Fewest arrivals worth a test.
    private static let shortestLook = 16
    /// Largest share staked on one toss.
    private static let largestShare = 0.98
    /// An echo repeats the whole displacement; this share of it is enough.
    private static let leastGain = 0.75
    /// Gains that reveal a clock that depends on our tosses and is alone at its port.
    ///
    /// On a single processor a program that must wait for our ticks depends on them as well: late ticks delay it, early
    /// ones do not. That is a gain of about 0.5.
    private static let gainsAlone = 0.6...2
    /// The same with several clocks at the port: with two at one place, each is mistaken for the other half of the
    /// time.
    private static let gainsAmongOthers = 0.25...2

    init(_ probe: Probe, lags: ClosedRange<Int64>) {
        self.probe = probe
        self.lags = lags
        tallies = Array(repeating: Tally(), count: lags.count)
    }

    /// Whether a segment with this many arrivals is tested.
    static func isLook(_ count: Int) -> Bool {
        count >= shortestLook && count % (count < 32 ? 8 : 4) == 0
    }

    /// Judges the arrivals so far.
    ///
    /// - Parameters:
    ///   - segment: the newest arrivals; a full ``segmentLength`` is counted permanently.
    ///   - amplitude: of the probe, in microseconds.
    ///   - isAlone: whether no other clock at the port is in step with us.
    /// - Returns: the result so far.
    mutating func judge(_ segment: Residuals, amplitude: Double, isAlone: Bool) -> Outcome {
        var present = tallies
        let scaled = segment.straightened(expected: amplitude).map { $0 / amplitude }
        for (index, lag) in lags.enumerated() { count(segment, scaled, lag, in: &present[index]) }
        if segment.count >= Self.segmentLength { tallies = present }
        return outcome(present, gains: isAlone ? Self.gainsAlone : Self.gainsAmongOthers)
    }

    private func count(_ segment: Residuals, _ scaled: [Double], _ lag: Int64, in tally: inout Tally) {
        let power = scaled.reduce(0) { $0 + $1 * $1 } / Double(max(1, scaled.count))
        // The noise that arrivals have if they do repeat the probe.
        let boldness = 1 / max(power - 1, 0.25)
        var stake = 1.0
        for (arrival, error) in zip(segment.arrivals, scaled) {
            let sign = Double(probe.sign(ofTick: arrival.tick &- lag))
            guard sign != 0 else { continue }
            stake *= 1 + sign * Self.share(error * boldness)
            tally.agreement += sign * error
            tally.power += error * error
            tally.count += 1
        }
        tally.stake += logarithm(stake)
    }

    /// The share to stake on a distance: about its hyperbolic tangent, which is best for Gaussian noise.
    private static func share(_ distance: Double) -> Double {
        let bounded = min(max(distance, -3), 3)
        let square = bounded * bounded
        return min(max(bounded * (27 + square) / (27 + 9 * square), -largestShare), largestShare)
    }

    private func outcome(_ tallies: [Tally], gains: ClosedRange<Double>) -> Outcome {
        // Bets on several lags at once must share the stake.
        let needed = Self.billion + logarithm(Double(tallies.count))
        var isExcluded = true
        for tally in tallies {
            let gain = tally.agreement / max(1, tally.count)
            let deviation = tally.power.squareRoot() / max(1, tally.count)
            if tally.stake >= needed, gains.contains(gain) { return .echo }
            isExcluded =
                isExcluded && tally.count >= Double(Self.shortestLook - 4)
                && gain + 3.5 * deviation < Self.leastGain
        }
        return isExcluded ? .noEcho : .open
    }
}
