internal import MIDIClock

/// Tests whether a clock's ticks move when ours are moved.
///
/// It bets on the tosses of a probe. Ticks later than expected speak for a toss to "late", early ones for "early". The
/// tosses are coins of ours, so a clock that is not made of ours is no help in guessing them, whatever its tempo and
/// its jitter: its stake grows a million times with a chance of one in a million. With our own clock nearly every bet
/// is won.
struct ProbeTest: Sendable {
    /// Ticks per toss. A single tick shows an echo; a follower averages those away, but not a longer block.
    let blockLength: Int64
    /// Whether the clock is ours; nil while that is open.
    private(set) var isOurs: Bool?
    private var probe = Probe.none
    private var bets: [Bet]

    static let longBlock: Int64 = 16
    private static let needed = 1e6
    /// Tosses, of long blocks, after which a test ends that has found nothing to speak of.
    private static let patience = 45.0

    /// - Parameters:
    ///   - blockLength: ticks per toss.
    ///   - lags: how many ticks after ours an echo may arrive.
    init(blockLength: Int64, lags: ClosedRange<Int64>) {
        self.blockLength = blockLength
        let isLong = blockLength > 1
        bets = stride(from: lags.lowerBound, through: lags.upperBound + (isLong ? 16 : 0), by: isLong ? 8 : 1).map(Bet.init)
    }

    /// The odds that it is ours.
    var odds: Double { bets.reduce(0) { max($0, $1.stake) } / Double(bets.count) }

    /// Processes an arrival.
    ///
    /// - Parameters:
    ///   - distance: from our tick to it, in amplitudes of the probe.
    ///   - tick: the number of our tick.
    ///   - newProbe: what our outputs send.
    ///   - isAlone: whether no other clock at its port is in step with us.
    mutating func append(_ distance: Double, tick: Int64, _ newProbe: Probe, isAlone: Bool) {
        guard isOurs == nil, newProbe.blockLength == blockLength else { return }
        if newProbe != probe {
            probe = newProbe
            for index in bets.indices { bets[index].block = nil }
        }
        for index in bets.indices { bets[index].append(distance, tick: tick, probe) }
        // A program that waits for our ticks on the same processor is held up by late ones only: a gain of 0.5. Of two
        // clocks at one place, each is taken for the other half of the time.
        let isLong = blockLength > 1
        let (enough, tooLittle) = isLong ? (0, 0.15) : (isAlone ? 0.7 : 0.25, 0.75)
        if bets.contains(where: { $0.stake >= Self.needed * Double(bets.count) && $0.gain >= enough }) {
            isOurs = true
        } else if bets.allSatisfy({ $0.count >= 12 && $0.gain + 3 * $0.doubt < tooLittle })
            || isLong && odds < 1 && bets.allSatisfy({ $0.count >= Self.patience })
        {
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
    /// Where arrivals are expected.
    private var expected: Double?
    private(set) var stake = 1.0
    private(set) var count = 0.0
    /// Sum of surprises in the direction of the toss, and of their squares.
    private var (agreement, power) = (0.0, 0.0)
    /// 1, and the tosses before; sums of moves times these.
    private var known = [1.0, 0, 0, 0, 0]
    private var effects = [0.0, 0, 0, 0, 0]

    init(lag: Int64) { self.lag = lag }

    /// How much of our moves the clock makes, and the standard deviation of this.
    var gain: Double { agreement / max(1, count) }
    var doubt: Double { power.squareRoot() / max(1, count) }

    mutating func append(_ distance: Double, tick: Int64, _ probe: Probe) {
        let place = tick - lag - probe.startTick
        guard place >= 0 else { return }
        let newBlock = place / probe.blockLength
        if let block, block != newBlock {
            settle(Double(probe.sign(ofTick: probe.startTick + block * probe.blockLength)))
        }
        if block != newBlock { (block, sum, arrivals) = (newBlock, 0, 0) }
        sum += distance
        arrivals += 1
    }

    /// Bets on a toss, from the arrivals while it held and the tosses before it.
    private mutating func settle(_ toss: Double) {
        let place = sum / arrivals
        let move = place - (expected ?? place)
        // Everything is learned as if four tosses had come through before, and had no effect later.
        let surprise = move - zip(known, effects).reduce(0) { $0 + $1.0 * $1.1 } / (count + 4)
        let usual = (agreement + 4) / (count + 4)
        let share = max(usual, 0.2)
        power += surprise * surprise
        count += 1
        agreement += toss * surprise
        let noise = max(power / count - share * share, share * share / 4)
        // The best bet is the hyperbolic tangent; this is about that. The floor lets a loop show that begins later.
        let odds = (surprise * share / noise).limited(to: 3)
        let bet = odds * (27 + odds * odds) / (27 + 9 * odds * odds)
        stake = max(stake * (1 + toss * bet.limited(to: 0.98)), 1e-6)
        for index in known.indices { effects[index] += (surprise - usual * toss) * known[index] }
        expected = place - (move + usual * toss) / 2
        known.removeLast()
        known.insert(toss, at: 1)
    }
}
