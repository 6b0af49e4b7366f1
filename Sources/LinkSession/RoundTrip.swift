import BeatTime

/// One ping and its pong.
///
/// `arrived` is the time at which the woken thread reads the pong, just as the other side reads the ping. The time to
/// wake is then the same both ways and cancels. The kernel's earlier stamp would remove it on one side only; with an
/// official peer that tripled the error.
struct RoundTrip: Hashable, Sendable {
    let sent: HostTime
    /// The other side's clock at some moment between the two.
    let ghostTime: GhostTime
    let arrived: HostTime

    /// Smallest possible lead of the session's clock over ours, if the pong had taken no time.
    var lowest: OffsetBound {
        OffsetBound(time: arrived, offset: Double(ghostTime.microseconds &- arrived.microseconds))
    }

    /// Largest possible lead, if the ping had taken no time.
    var highest: OffsetBound {
        OffsetBound(time: sent, offset: Double(ghostTime.microseconds &- sent.microseconds))
    }
}

/// A lower or upper bound on the lead of the session's clock over ours at some time, in microseconds.
struct OffsetBound: Hashable, Sendable {
    var time: HostTime
    var offset: Double

    /// The same bound at another time, for a clock that gains `drift` microseconds per microsecond of ours.
    func offset(at time: HostTime, drift: Double) -> Double {
        offset + drift * Double(self.time.microseconds(to: time))
    }
}

/// What a series of round trips tells about the session's clock: the two bounds that most of them agree on.
///
/// Delay is never negative, so every round trip bounds the offset from both sides. The tightest bounds come from the
/// ping and the pong with the least delay; they need not be a pair. The bounds of a pong with a wrong time contradict
/// the others, and the majority wins.
struct Burst: Hashable, Sendable {
    let lower: OffsetBound
    let upper: OffsetBound
    /// Likely error of the middle between the bounds, in microseconds.
    let error: Double
    /// Whether the session's founder was asked; other members only repeat what they have measured.
    let isFirstHand: Bool

    /// Finds the bounds; nil if most of the round trips do not agree on any offset.
    ///
    /// - Parameters:
    ///   - trips: at most some hundreds, in order of arrival.
    ///   - drift: known rate of the session's clock relative to ours.
    ///   - isFirstHand: whether the session's founder was asked.
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
        // The smallest of many delays exceeds the smallest possible one by about the mean excess divided by their
        // number.
        let excess = agreeing.reduce(0) { $0 + (highest[$1] - highest[high]) + (lowest[low] - lowest[$1]) }
        error = excess / 2 / Double(agreeing.count * agreeing.count)
    }

    /// When the later of its bounds was found.
    var time: HostTime { max(lower.time, upper.time) }

    /// The possible offsets at a time.
    func range(at time: HostTime, drift: Double) -> (low: Double, high: Double) {
        (lower.offset(at: time, drift: drift), upper.offset(at: time, drift: drift))
    }
}
