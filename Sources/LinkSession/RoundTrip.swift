import BeatTime

/// One ping and its pong.
///
/// Its arrival is when the thread had been woken and read it, as it is on the other side; so what waking costs is on both
/// ways and cancels. The kernel's earlier stamp would leave it out on one: tried on an official peer, that made the
/// result three times worse.
struct RoundTrip: Hashable, Sendable {
    let sent: HostTime
    /// What the other side's clock showed somewhere between the two.
    let ghostTime: GhostTime
    let arrived: HostTime

    /// The least that the session's clock can be ahead of ours, if the pong had taken no time at all.
    var lowest: OffsetBound {
        OffsetBound(time: arrived, offset: Double(ghostTime.microseconds &- arrived.microseconds))
    }

    /// The most that it can be ahead, if the ping had taken none.
    var highest: OffsetBound {
        OffsetBound(time: sent, offset: Double(ghostTime.microseconds &- sent.microseconds))
    }
}

/// How far the session's clock is ahead of ours at some time, at least or at most, in microseconds.
struct OffsetBound: Hashable, Sendable {
    var time: HostTime
    var offset: Double

    /// The same bound as of another time, if the session's clock gains so much on ours for each of our microseconds.
    func offset(at time: HostTime, drift: Double) -> Double {
        offset + drift * Double(self.time.microseconds(to: time))
    }
}

/// What a run of round trips tells of the session's clock: the two bounds that most of them agree on.
///
/// Delay is never negative, so every round trip bounds the offset from both sides, and the tightest bounds come from
/// whichever ping and whichever pong were held up least. They need not be a pair. A pong that tells a wrong time bounds
/// nothing: its bounds contradict everybody else's, and the majority has it.
struct Burst: Hashable, Sendable {
    let lower: OffsetBound
    let upper: OffsetBound
    /// How far the middle between the bounds may well be from the truth, in microseconds.
    let error: Double
    /// Whether the session's founder was asked, whose clock it is; any other member tells what it has measured itself.
    let isFirstHand: Bool

    /// Finds the bounds; nil if most of the round trips do not agree on any offset.
    ///
    /// - Parameters:
    ///   - trips: at most some hundreds, in the order of their arrival.
    ///   - drift: how fast the session's clock is known to run, compared with ours.
    ///   - isFirstHand: whether they went to the session's founder.
    init?(_ trips: [RoundTrip], drift: Double, isFirstHand: Bool = true) {
        guard let time = trips.last?.arrived else { return nil }
        let lowest = trips.map { $0.lowest.offset(at: time, drift: drift) }
        let highest = trips.map { $0.highest.offset(at: time, drift: drift) }
        func contain(_ offset: Double) -> [Int] {
            trips.indices.filter { lowest[$0] <= offset && offset <= highest[$0] }
        }
        var agreeing: [Int] = []
        for offset in lowest {
            let containing = contain(offset)
            if containing.count > agreeing.count { agreeing = containing }
        }
        guard 2 * agreeing.count > trips.count, let low = agreeing.max(by: { lowest[$0] < lowest[$1] }),
            let high = agreeing.min(by: { highest[$0] < highest[$1] })
        else { return nil }
        (lower, upper) = (trips[low].lowest, trips[high].highest)
        self.isFirstHand = isFirstHand
        // The least of many delays lies above the least possible by about the mean excess divided by their number.
        let excess = agreeing.reduce(0) { $0 + (highest[$1] - highest[high]) + (lowest[low] - lowest[$1]) }
        error = excess / 2 / Double(agreeing.count * agreeing.count)
    }

    /// When the later of its bounds was found.
    var time: HostTime { max(lower.time, upper.time) }

    /// The offsets that it allows at a time.
    func range(at time: HostTime, drift: Double) -> (low: Double, high: Double) {
        (lower.offset(at: time, drift: drift), upper.offset(at: time, drift: drift))
    }
}
