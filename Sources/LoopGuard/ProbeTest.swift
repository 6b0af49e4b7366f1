internal import MIDIClock

/// Tests whether a clock's ticks move when ours are moved.
///
/// It bets on the tosses of a probe: ticks later than expected speak for a toss to "late". The coins are ours, so no
/// other clock helps to guess them, whatever its tempo and jitter: the chance that its stake grows a million times is one
/// in a million. With our own clock nearly every bet is won. The more delays are tried, the larger a stake must be.
struct ProbeTest: Sendable {
    /// Ticks per toss: a single tick shows an echo; a follower averages that away, but not a longer block.
    let blockLength: Int64
    /// Whether the clock is ours; nil while that is open.
    private(set) var isOurs: Bool?
    private var probe = Probe.none
    /// One for each delay that the clock may have.
    private var bets: [Bet]

    static let longBlock: Int64 = 16

    /// - Parameters:
    ///   - blockLength: ticks per toss.
    ///   - lags: how many ticks after ours an echo may arrive.
    init(blockLength: Int64, lags: ClosedRange<Int64>) {
        self.blockLength = blockLength
        let (last, step) = blockLength > 1 ? (lags.upperBound + Self.longBlock, 8) : (lags.upperBound, 1)
        bets = stride(from: lags.lowerBound, through: last, by: step).map { Bet(lag: $0) }
    }

    /// Processes an arrival.
    ///
    /// - Parameters:
    ///   - distance: from our tick to it, in amplitudes of the probe.
    ///   - tick: the number of our tick.
    ///   - newProbe: what our outputs send, with blocks of the right length.
    ///   - isAlone: whether no other clock at its port is in step with us.
    mutating func append(_ distance: Double, tick: Int64, _ newProbe: Probe, isAlone: Bool) {
        guard isOurs == nil else { return }
        for index in bets.indices {
            if newProbe != probe { bets[index].block = nil }
            bets[index].append(distance, tick: tick, newProbe)
        }
        probe = newProbe
        // An echo makes all of our moves. A program that waits for our ticks on the same processor makes half of them, as
        // late ones hold it up; and of two clocks at one place, each is taken for the other half of the time.
        let isLong = blockLength > 1
        let (least, enough) = isLong ? (0.15, 0) : (0.75, isAlone ? 0.7 : 0.25)
        if bets.contains(where: { $0.stake >= 1e6 * Double(bets.count) && $0.gain >= enough }) {
            isOurs = true
        } else if bets.allSatisfy({ $0.isBelow(least) || isLong && $0.isFutile }) {
            isOurs = false
        }
    }
}

/// The bets for one delay.
private struct Bet: Sendable {
    /// Ticks from ours to the arrival that is compared with it.
    let lag: Int64
    /// The present block, and the sum and number of arrivals in it.
    var block: Int64?
    private var (sum, arrivals) = (0.0, 0.0)
    private(set) var stake = 1.0
    /// Number of bets, sum of surprises in the direction of the toss, and sum of squared surprises.
    private var (count, agreement, power) = (0.0, 0.0, 0.0)
    /// Where arrivals are expected; the tosses before this one, after a 1; and how much each has added to the surprises.
    private var expected: Double?
    private var known = [1.0, 0, 0, 0, 0]
    private var effects = [0.0, 0, 0, 0, 0]

    init(lag: Int64) { self.lag = lag }

    /// How much of our moves the clock makes.
    var gain: Double { agreement / max(1, count) }
    /// Whether it certainly makes less of them.
    func isBelow(_ least: Double) -> Bool { count >= 12 && gain + 3 * power.squareRoot() / count < least }
    /// Whether so many tosses have shown nothing to speak of.
    var isFutile: Bool { count >= 45 && stake < 9 }

    mutating func append(_ distance: Double, tick: Int64, _ probe: Probe) {
        let place = tick &- lag &- probe.startTick
        guard place >= 0 else { return }
        let newBlock = place / probe.blockLength
        if block != newBlock {
            if let block { settle(Double(probe.sign(ofTick: probe.startTick &+ block * probe.blockLength))) }
            (block, sum, arrivals) = (newBlock, 0, 0)
        }
        (sum, arrivals) = (sum + distance, arrivals + 1)
    }

    /// Bets on a toss, from the arrivals while it held and the tosses before it.
    private mutating func settle(_ toss: Double) {
        let place = sum / arrivals
        let move = place - (expected ?? place)
        // All is learned as if four tosses had come through before, in noise of their size, and had no effect later.
        let surprise = move - zip(known, effects).reduce(0) { $0 + $1.0 * $1.1 } / (count + 4)
        let usual = (agreement + 4) / (count + 4)
        let share = max(usual, 0.2)
        (count, agreement, power) = (count + 1, agreement + toss * surprise, power + surprise * surprise)
        let noise = max((power + 4) / (count + 4) - share * share, share * share / 4)
        // The best bet is the hyperbolic tangent; this is about that. The floor lets a loop show that begins later.
        let odds = (surprise * share / noise).limited(to: 3)
        let bet = odds * (27 + odds * odds) / (27 + 9 * odds * odds)
        stake = max(stake * (1 + toss * bet.limited(to: 0.98)), 1e-6)
        for index in known.indices { effects[index] += (surprise - usual * toss) * known[index] }
        expected = place - (move + usual * toss) / 2
        known = [1, toss] + known[1...3]
    }
}
