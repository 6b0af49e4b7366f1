internal import MIDIClock

/// Finds out whether arrivals repeat a probe's tosses, at some lag, as an echo does and nobody else can.
///
/// It bets on the tosses. Whoever does not know our tosses sends ticks that are independent of them, so each toss is a
/// fair coin even to one who has seen every arrival. Staking a share s of all one has on an early or late tick
/// multiplies it by 1 + s or 1 - s: whatever the shares are that arrivals suggest, the expected stake stays 1, and by
/// Ville's inequality it ever reaches a billion with probability below 10^-9, whatever the leader, its tempo and its
/// jitter are. An echo makes the stake grow to nearly twice with every tick.
struct EchoTest: Sendable {
    enum Outcome: Hashable, Sendable {
        case open
        case echo
        case noEcho
    }

    let probe: Probe
    /// Ticks from one that we sent to the one it is counted with when it comes back.
    let lags: ClosedRange<Int64>
    private var tallies: [Tally]

    /// What arrivals so far say for one lag.
    private struct Tally: Sendable {
        /// The logarithm of the stake.
        var stake = 0.0
        /// Sum of tosses times distances, in probe amplitudes.
        var agreement = 0.0
        /// Sum of squared distances, in squared probe amplitudes.
        var power = 0.0
        var count = 0.0
    }

    /// The logarithm of a billion: the odds against fencing a genuine leader.
    private static let billion = 20.72
    /// Arrivals judged together, two beats of them.
    static let segmentLength = 48
    /// The shortest run of arrivals that is worth a look.
    private static let shortestLook = 16
    /// The largest share staked at once.
    private static let largestShare = 0.98
    /// An echo repeats all of the displacement; so much of it is allowed to be missing.
    private static let leastGain = 0.75
    /// Gains that make an echo of a clock that depends on our tosses and has its port to itself.
    ///
    /// A program that has to wait for our ticks, on the one processor there is, depends on them as well: our late ticks
    /// hold it up and our early ones do not, which is a gain of about 0.5.
    private static let gainsAlone = 0.6...2
    /// The same where there are several clocks: of two at one place each is taken for the other half of the time.
    private static let gainsAmongOthers = 0.25...2

    init(_ probe: Probe, lags: ClosedRange<Int64>) {
        self.probe = probe
        self.lags = lags
        tallies = Array(repeating: Tally(), count: lags.count)
    }

    /// Whether a segment of so many arrivals is to be looked at.
    static func isLook(_ count: Int) -> Bool {
        count >= shortestLook && count % (count < 32 ? 8 : 4) == 0
    }

    /// Judges what has come so far.
    ///
    /// - Parameters:
    ///   - segment: the newest arrivals. When they are ``segmentLength`` they are counted in for good.
    ///   - amplitude: of the probe, in microseconds.
    ///   - isAlone: whether no other clock in the port is in step with us.
    /// - Returns: what is known now.
    mutating func judge(_ segment: Residuals, amplitude: Double, isAlone: Bool) -> Outcome {
        var present = tallies
        let scaled = segment.straightened(expected: amplitude).map { $0 / amplitude }
        for (index, lag) in lags.enumerated() { count(segment, scaled, lag, in: &present[index]) }
        if segment.count >= Self.segmentLength { tallies = present }
        return outcome(present, gains: isAlone ? Self.gainsAlone : Self.gainsAmongOthers)
    }

    private func count(_ segment: Residuals, _ scaled: [Double], _ lag: Int64, in tally: inout Tally) {
        let power = scaled.reduce(0) { $0 + $1 * $1 } / Double(max(1, scaled.count))
        // As noisy as arrivals are if they do repeat the probe.
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

    /// The share to stake on a distance: nearly its hyperbolic tangent, which is best for Gaussian noise.
    private static func share(_ distance: Double) -> Double {
        let bounded = min(max(distance, -3), 3)
        let square = bounded * bounded
        return min(max(bounded * (27 + square) / (27 + 9 * square), -largestShare), largestShare)
    }

    private func outcome(_ tallies: [Tally], gains: ClosedRange<Double>) -> Outcome {
        // Stakes on several lags at once share what there is to stake.
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
