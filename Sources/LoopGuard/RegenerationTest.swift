internal import MIDIClock

/// Finds out whether arrivals go after a slow probe, as the clock of another gateway does that follows our outputs.
///
/// Such a gateway smooths what it hears, so the tosses of single ticks are lost; blocks of them come through, blurred
/// over the ticks that its follower averages. A ``RegenerationModel`` for each likely way to smooth says how likely
/// early and late are for a block, from all arrivals and the tosses before, and money is staked on that as in
/// ``EchoTest``: whatever the leader's noise is like, the stake grows a hundred thousandfold by chance only once in
/// a hundred thousand tests. Fewer tosses cannot prove more, so whoever is found out is soon tested again.
struct RegenerationTest: Sendable {
    let probe: Probe
    /// Mean distances in probe amplitudes, a quarter of a block each.
    private var bins: [Double] = []
    private var open = (sum: 0.0, count: 0.0)
    private var openBin: Int64 = 0
    private var models: [RegenerationModel] = RegenerationModel.likely
    private var blocks = 0
    /// What is staked again and again, and what is held back: a follower may need time until it behaves as models do.
    private var (staked, reserve): (Double, Double)
    /// What the last bets have brought, logarithm.
    private var luck = 0.0

    /// Ticks that share a toss.
    static let blockLength: Int64 = 16
    static let binLength = blockLength / 4
    /// Ticks after which the probe has told what it can: 30 beats.
    static let length: Int64 = 720
    /// The odds that are enough.
    private static let needed = 1e5
    /// With such luck, and nothing left of what was staked, there is no hope.
    private static let lost = -4.0
    /// Below such odds there is no reason to go on when the probe has told what it can.
    private static let promising = 3.0
    private static let fewestBlocks = 16
    /// The share of the reserve that is put in with every bet, and of old luck that is forgotten.
    private static let (fresh, forgetting) = (0.03, 0.05)
    /// The largest share staked at once: our models are only models.
    private static let largestShare = 0.95

    /// - Parameters:
    ///   - probe: what our outputs do.
    ///   - stake: from the probe before, if it left the matter open.
    init(_ probe: Probe, stake: Double = 1) {
        self.probe = probe
        (staked, reserve) = (stake / 2, stake / 2)
    }

    /// How often over what was there at first is there now: the odds for a loop.
    var stake: Double { staked + reserve }

    /// Takes in an arrival.
    ///
    /// - Parameters:
    ///   - arrival: counted with one of our ticks.
    ///   - amplitude: of the probe, in microseconds.
    /// - Returns: what is known now.
    mutating func append(_ arrival: Residuals.Arrival, amplitude: Double) -> EchoTest.Outcome {
        let tick = arrival.tick &- probe.startTick
        guard tick >= 0, tick < Self.length + 2 * Self.blockLength else { return .open }
        let bin = tick / Self.binLength
        while openBin < bin {
            close()
            if openBin % 4 == 0, bins.count >= 8 { bet() }
            if let outcome = settle() { return outcome }
        }
        // Strays are drawn in.
        let center = open.count > 0 ? open.sum / open.count : bins.last ?? arrival.distance / amplitude
        open.sum += min(max(arrival.distance / amplitude, center - 8), center + 8)
        open.count += 1
        return .open
    }

    private mutating func close() {
        bins.append(open.count > 0 ? open.sum / open.count : bins.last ?? 0)
        open = (0, 0)
        openBin += 1
    }

    /// Stakes on the block before the one that is complete now.
    private mutating func bet() {
        let sign = Double(probe.sign(ofTick: probe.startTick &+ Int64(blocks) &* Self.blockLength))
        blocks += 1
        var (share, weights) = (0.0, 0.0)
        for index in models.indices {
            models[index].expect(bins)
            share += models[index].weight * models[index].share
            weights += models[index].weight
        }
        let bounded = min(max(share / weights, -Self.largestShare), Self.largestShare)
        let gain = 1 + sign * bounded
        staked = (staked + Self.fresh * reserve) * gain
        reserve *= 1 - Self.fresh
        luck = (1 - Self.forgetting) * luck + logarithm(gain)
        for index in models.indices { models[index].learn(sign, bins, total: weights) }
    }

    private func settle() -> EchoTest.Outcome? {
        if stake >= Self.needed { return .echo }
        if blocks >= Self.fewestBlocks, luck < Self.lost, staked < 0.1 * reserve { return .noEcho }
        return openBin * Self.binLength >= Self.length && stake < Self.promising ? .noEcho : nil
    }
}
