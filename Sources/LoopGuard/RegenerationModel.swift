/// How a follower with some memory would respond to a slow probe.
///
/// It fits a straight line through its last ticks, and answers some ticks late. Distances are in amplitudes of the
/// probe, one bin for each quarter of a block.
struct RegenerationModel: Sendable {
    /// Weight of this model's bets among all models.
    private(set) var weight = 1.0
    /// The share it would bet on "late", from -1 to 1.
    private(set) var share = 0.0
    /// Response to a single late block, bin by bin from its start.
    private let response: [Double]
    /// Expected value of all bins from the tosses known so far.
    private var known: [Double]
    private var blocks = 0
    /// Share of the displacement that comes through.
    private var gain = 1.0

    private static let binsPerBlock = 4
    /// Number of bins from which the noise is estimated.
    private static let noiseBins = 64
    /// Blocks before the first bet.
    private static let settling = 3

    init(memory: Double, lag: Double, bins: Int) {
        func step(_ time: Double) -> Double {
            guard time > 0 else { return 0 }
            guard time < memory else { return 1 }
            return (2 * (2 * memory - 1) * time - 3 * time * (time - 1)) / (memory * (memory + 1))
        }
        let (bin, block) = (Double(RegenerationTest.binLength), Double(RegenerationTest.blockLength))
        response = (0..<bins).map { index in
            let time = (Double(index) + 0.5) * bin - lag
            return step(time) - step(time - block)
        }
        known = Array(repeating: 0, count: bins)
    }

    /// Followers that average over a third of a beat to ten beats, and outputs that glide after them.
    static let likely: [RegenerationModel] = {
        let bins = Int(RegenerationTest.length / RegenerationTest.binLength) + 2 * binsPerBlock
        return [8, 32, 64, 128, 256].flatMap { memory in
            [0, 8].map { RegenerationModel(memory: memory, lag: $0, bins: bins) }
        }
    }()

    /// Decides what to bet on the toss after the last one learned.
    ///
    /// - Parameter bins: distances, up to and including those of the block after it.
    mutating func expect(_ bins: [Double]) {
        let start = blocks * Self.binsPerBlock
        guard blocks >= Self.settling else {
            share = 0
            return
        }
        let noise = Noise((max(0, start - Self.noiseBins)..<start).map { bins[$0] - gain * known[$0] })
        let rest = (start..<bins.count).map { bins[$0] - gain * known[$0] - noise.mean }
        let (late, early) = (likelihood(of: rest, first: 1, noise), likelihood(of: rest, first: -1, noise))
        let half = min(max(0.4 * (late - early), -3), 3)
        // Approximately the hyperbolic tangent.
        share = min(max(half * (27 + half * half) / (27 + 9 * half * half), -0.95), 0.95)
    }

    /// Log likelihood of the unexplained rest, with the better of both following tosses.
    private func likelihood(of rest: [Double], first: Double, _ noise: Noise) -> Double {
        max(likelihood(of: rest, [first, 1], noise), likelihood(of: rest, [first, -1], noise))
    }

    private func likelihood(of rest: [Double], _ signs: [Double], _ noise: Noise) -> Double {
        var last = noise.last
        var sum = 0.0
        for index in rest.indices {
            var value = rest[index] - gain * signs[0] * response[index]
            if index >= Self.binsPerBlock { value -= gain * signs[1] * response[index - Self.binsPerBlock] }
            let innovation = value - noise.memory * last
            sum -= min(innovation * innovation / noise.variance, 16) / 2
            last = value
        }
        return sum
    }

    /// Learns the result of a toss.
    ///
    /// - Parameters:
    ///   - sign: of its block.
    ///   - bins: as before.
    ///   - total: sum of all models' weights.
    mutating func learn(_ sign: Double, _ bins: [Double], total: Double) {
        // Some weight always returns, because a follower may change its behavior.
        weight = 0.98 * weight / total * (1 + sign * share) + 0.002
        let start = blocks * Self.binsPerBlock
        blocks += 1
        for index in start..<known.count { known[index] += sign * response[index - start] }
        if blocks > 6 { learnGain(Array(bins.prefix(start + Self.binsPerBlock))) }
    }

    /// Least squares, biased toward the usual gain of followers.
    private mutating func learnGain(_ bins: [Double]) {
        let noise = Noise(bins.indices.suffix(Self.noiseBins).map { bins[$0] - gain * known[$0] })
        let (heard, told) = (Self.steps(bins, noise.memory), Self.steps(Array(known.prefix(bins.count)), noise.memory))
        let prior = 20 * noise.variance
        let agreement = zip(heard, told).reduce(0) { $0 + $1.0 * $1.1 }
        gain = (agreement + 0.8 * prior) / (told.reduce(0) { $0 + $1 * $1 } + prior)
        gain = min(max(gain, 0.2), 1.6)
    }

    /// Deviations from the mean, minus the part that noise repeats from the bin before.
    private static func steps(_ values: [Double], _ memory: Double) -> [Double] {
        let mean = values.reduce(0, +) / Double(max(1, values.count))
        return zip(values.dropFirst(), values).map { ($0 - mean) - memory * ($1 - mean) }
    }

    /// A model of the rest: a level, and noise with a longer or shorter memory.
    private struct Noise {
        private(set) var mean = 0.0
        private(set) var memory = 0.0
        private(set) var variance = 1.0
        private(set) var last = 0.0

        /// Smallest variance assumed for a bin.
        private static let least = 0.0005

        init(_ values: [Double]) {
            guard values.count > 1 else { return }
            let level = values.reduce(0, +) / Double(values.count)
            let rest = values.map { $0 - level }
            let power = rest.reduce(0) { $0 + $1 * $1 }
            let repeated = zip(rest.dropFirst(), rest).reduce(0) { $0 + $1.0 * $1.1 }
            let share = min(max(repeated / max(power, 1e-9), 0), 0.98)
            let innovation = zip(rest.dropFirst(), rest).map { $0 - share * $1 }
            let count = Double(innovation.count)
            mean = level
            memory = share
            variance = max(innovation.reduce(0) { $0 + $1 * $1 } / count, Self.least) * (1 + 4 / count)
            last = rest[rest.count - 1]
        }
    }
}
