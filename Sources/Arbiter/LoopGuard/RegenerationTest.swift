internal import MIDIClock

/// Finds out whether arrivals go after a slow probe, as the clock of another gateway does that follows our outputs.
///
/// Such a gateway smooths what it hears, so single tosses are lost; blocks of a beat come through, blurred over the
/// ticks its follower averages. Arrivals are compared with what followers of several memories would make of our
/// tosses. To be found out, a source must agree with one of them far better than a billion to one for noise like its
/// own, and as far as tosses alone can prove it whatever its noise is like.
struct RegenerationTest: Sendable {
    let probe: Probe
    /// Sums and counts of distances, a bin for every half beat since the probe began.
    private var bins: [(sum: Double, count: Double)] = Array(repeating: (0, 0), count: capacity)
    private var reference: Double?
    private var judged = 0
    /// The logarithm of the best odds for a loop so far.
    private(set) var evidence = 0.0

    /// Ticks that share a toss.
    static let blockLength: Int64 = 24
    private static let binLength: Int64 = 12
    /// 28 beats.
    private static let capacity = 56
    /// Ticks after which the probe has told all it can: some more than are counted, for arrivals on their way.
    static let length = (Int64(capacity) + 8) * binLength
    /// The fewest bins that say there is no loop, when there is no time left.
    private static let fewest = 40
    /// Ticks that a follower's line may go through.
    private static let memories = [8.0, 32, 64, 128, 256]
    /// Ticks that an arrival may have been on its way.
    private static let lags = [0.0, 4]
    /// The logarithm of a billion, and of the number of comparisons made.
    private static let needed = 20.72 + 4.3
    /// How far tosses alone must agree, in deviations: by chance once in a thousand.
    private static let tossesNeeded = 3.7
    /// Of the displacement, the least share that comes through.
    private static let leastGain = 0.3

    init(_ probe: Probe) { self.probe = probe }

    /// Takes in an arrival.
    ///
    /// - Parameters:
    ///   - arrival: counted with one of our ticks.
    ///   - amplitude: of the probe, in microseconds.
    /// - Returns: what is known now; nil unless it was time for a look.
    mutating func append(_ arrival: Residuals.Arrival, amplitude: Double) -> EchoTest.Outcome? {
        let bin = (arrival.tick &- probe.startTick).quotientAndRemainder(dividingBy: Self.binLength).quotient
        guard arrival.tick >= probe.startTick else { return nil }
        if bin < Self.capacity {
            // Strays are drawn in.
            let center = reference ?? arrival.distance
            let bound = max(1_500, 6 * amplitude)
            let distance = min(max(arrival.distance, center - bound), center + bound)
            reference = center + (distance - center) / 12
            bins[Int(bin)].sum += distance
            bins[Int(bin)].count += 1
        }
        let complete = min(Int(bin), Self.capacity)
        guard complete >= 16, complete % 8 == 0, complete > judged else { return nil }
        judged = complete
        return judge(complete, amplitude: amplitude)
    }

    private mutating func judge(_ count: Int, amplitude: Double) -> EchoTest.Outcome {
        let used = (0..<count).filter { bins[$0].count > 0 }
        guard used.count >= 12 else { return .open }
        let heard = used.map { bins[$0].sum / bins[$0].count / amplitude }
        var isExcluded = true
        evidence = 0
        for memory in Self.memories {
            for lag in Self.lags {
                let expected = Expectation(probe, memory: memory, lag: lag, bins: used.map { Double($0) })
                let match = Match(heard, expected)
                evidence = max(evidence, match.gain > 0 ? match.evidence : 0)
                if match.evidence >= Self.needed, match.tosses >= Self.tossesNeeded,
                    (Self.leastGain...2).contains(match.gain)
                {
                    return .echo
                }
                isExcluded = isExcluded && match.gain + 3.5 * match.gainDeviation < Self.leastGain
            }
        }
        return isExcluded || (count >= Self.capacity && used.count >= Self.fewest) ? .noEcho : .open
    }

    /// What a follower of some memory makes of the probe, block by block, in amplitudes.
    private struct Expectation {
        /// For each block, what it adds to each bin.
        let shares: [[Double]]

        init(_ probe: Probe, memory: Double, lag: Double, bins: [Double]) {
            let length = Double(RegenerationTest.blockLength)
            let blocks = Int((bins.last ?? 0) * Double(RegenerationTest.binLength) / length) + 1
            shares = (0..<blocks).map { block in
                let start = Double(block) * length + lag
                let sign = Double(probe.sign(ofTick: probe.startTick &+ Int64(block) &* RegenerationTest.blockLength))
                return bins.map { bin in
                    let time = (bin + 0.5) * Double(RegenerationTest.binLength) - start
                    return sign * (Self.response(time, memory) - Self.response(time - length, memory))
                }
            }
        }

        /// Where the end of a straight line through the last ticks is, so many ticks after they stepped by 1.
        private static func response(_ time: Double, _ memory: Double) -> Double {
            guard time > 0 else { return 0 }
            guard time < memory else { return 1 }
            return (2 * (2 * memory - 1) * time - 3 * time * (time - 1)) / (memory * (memory + 1))
        }
    }

    /// How well arrivals agree with an expectation.
    private struct Match {
        private(set) var gain = 0.0
        private(set) var gainDeviation = Double.infinity
        /// The logarithm of the odds against such agreement by chance.
        private(set) var evidence = 0.0
        /// Agreement in deviations of what tosses alone make.
        private(set) var tosses = 0.0

        init(_ heard: [Double], _ expected: Expectation) {
            let sum = expected.shares.reduce(Array(repeating: 0, count: heard.count)) { zip($0, $1).map(+) }
            // Noise that wanders is told from noise that does not once the echo is taken out.
            var memory = 0.0
            for _ in 0..<2 {
                let (own, echo) = (Self.plain(heard, memory), Self.plain(sum, memory))
                let power = Self.product(echo, echo)
                guard power > 0 else { return }
                gain = Self.product(own, echo) / power
                let rest = zip(Self.plain(heard, 0), Self.plain(sum, 0)).map { $0 - gain * $1 }
                let wander = Self.product(Array(rest.dropFirst()), rest) / max(Self.product(rest, rest), 1e-9)
                memory = min(max(wander, 0), 0.95)
            }
            let (own, echo) = (Self.plain(heard, memory), Self.plain(sum, memory))
            let (power, whole) = (Self.product(echo, echo), max(Self.product(own, own), 1e-9))
            guard power > 0 else { return }
            let agreement = Self.product(own, echo)
            gain = agreement / power
            let unexplained = max(1 - agreement * agreement / (power * whole), 1e-9)
            let freedom = Double(heard.count - 5)
            evidence = -freedom / 2 * logarithm(unexplained)
            gainDeviation = (unexplained * whole / power / freedom).squareRoot()
            let chance = expected.shares.reduce(0.0) { total, share in
                let part = Self.product(own, Self.plain(share, memory))
                return total + part * part
            }
            tosses = agreement / max(chance, 1e-9).squareRoot()
        }

        /// Without the share of the value before that wandering noise repeats, and without a straight line.
        private static func plain(_ values: [Double], _ memory: Double) -> [Double] {
            let steps = zip(values.dropFirst(), values).map { $0 - memory * $1 }
            let count = Double(steps.count)
            let mean = steps.reduce(0, +) / count
            let middle = (count - 1) / 2
            let spread = count * (count * count - 1) / 12
            let slope = steps.indices.reduce(0.0) { $0 + (Double($1) - middle) * steps[$1] } / spread
            return steps.indices.map { steps[$0] - mean - slope * (Double($0) - middle) }
        }

        private static func product(_ left: [Double], _ right: [Double]) -> Double {
            zip(left, right).reduce(0) { $0 + $1.0 * $1.1 }
        }
    }
}
