internal import MIDIClock

/// Tests whether arrivals follow a slow probe, as the clock of a gateway that follows our outputs does.
///
/// Such a gateway smooths what it hears, which hides the tosses of single ticks. Tosses for blocks come through,
/// blurred over the ticks that its follower averages. A ``RegenerationModel`` for each likely way of smoothing predicts
/// early or late for a block, from all arrivals and the tosses before. Its bets work as in ``EchoTest``: whatever the
/// leader's noise, the stake grows by 100 000 by chance only once in 100 000 tests. With fewer tosses no better proof
/// is possible, so a source found this way is soon tested again.
struct RegenerationTest: Sendable {
    let probe: Probe
    /// Mean distances in probe amplitudes, one for each quarter of a block.
    private var bins: [Double] = []
    private var open = (sum: 0.0, count: 0.0)
    private var openBin: Int64 = 0
    private var models: [RegenerationModel] = RegenerationModel.likely
    private var blocks = 0
    /// The part that is bet repeatedly, and a reserve: a follower may take time to behave like a model.
    private var (staked, reserve): (Double, Double)
    /// Logarithm of the gain by the last bets.
    private var luck = 0.0

    /// Ticks per toss.
    static let blockLength: Int64 = 16
    static let binLength = blockLength / 4
    /// Ticks after which the probe can tell nothing more: 30 beats.
    static let length: Int64 = 720
    /// The odds required.
    private static let needed = 1e5
    /// With a gain below this, and no stake left, the test is given up.
    private static let lost = -4.0
    /// Odds below which the test ends when the probe is over.
    private static let promising = 3.0
    private static let fewestBlocks = 16
    /// Share of the reserve added to every bet, and share of the old gain that is forgotten.
    private static let (fresh, forgetting) = (0.03, 0.05)
    /// Largest share bet at once, because the models are only approximations.
    private static let largestShare = 0.95

    /// - Parameters:
    ///   - probe: what our outputs send.
    ///   - stake: from the previous probe, if it left the matter open.
    init(_ probe: Probe, stake: Double = 1) {
        self.probe = probe
        (staked, reserve) = (stake / 2, stake / 2)
    }

    /// Present stake relative to the initial one: the odds for a loop.
    var stake: Double { staked + reserve }

    /// Processes an arrival.
    ///
    /// - Parameters:
    ///   - arrival: with the tick of ours it belongs to.
    ///   - amplitude: of the probe, in microseconds.
    /// - Returns: the result so far.
    mutating func append(_ arrival: Residuals.Arrival, amplitude: Double) -> EchoTest.Outcome {
        let tick = arrival.tick &- probe.startTick
        guard tick >= 0, tick < Self.length + 2 * Self.blockLength else { return .open }
        let bin = tick / Self.binLength
        while openBin < bin {
            close()
            if openBin % 4 == 0, bins.count >= 8 { bet() }
            if let outcome = settle() { return outcome }
        }
        // Limit outliers.
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

    /// Bets on the block before the one just completed.
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
