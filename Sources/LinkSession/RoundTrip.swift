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

    /// The lead of the session's clock if both ways take as long; it may be wrong by half of the time there and back.
    ///
    /// It wraps around if the clock is very far from ours, so that differences of leads are right.
    var lead: Int64 { ghostTime.microseconds &- sent.microseconds &- sent.microseconds(to: arrived) / 2 }

    /// Smallest possible lead of the session's clock over ours, if the pong had taken no time; beyond `base`.
    func lowest(beyond base: Int64 = 0) -> OffsetBound {
        OffsetBound(time: arrived, offset: Double(ghostTime.microseconds &- arrived.microseconds &- base))
    }

    /// Largest possible lead, if the ping had taken no time; beyond `base`.
    func highest(beyond base: Int64 = 0) -> OffsetBound {
        OffsetBound(time: sent, offset: Double(ghostTime.microseconds &- sent.microseconds &- base))
    }
}

/// A lower or upper bound on the lead of the session's clock over ours at some time, in microseconds beyond a base.
///
/// Of a large lead, a double would lose the microseconds. So it is counted from a whole number close to it, the base.
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
    /// What the bounds are counted from, in microseconds.
    let base: Int64
    /// Whether the session's founder was asked; other members only repeat what they have measured.
    let isFirstHand: Bool

    /// Finds the bounds; nil if most of the round trips do not agree on any offset.
    ///
    /// - Parameters:
    ///   - trips: at most some hundreds, in order of arrival.
    ///   - base: what to count the bounds from, in microseconds; close to the lead.
    ///   - drift: known rate of the session's clock relative to ours.
    ///   - isFirstHand: whether the session's founder was asked.
    init?(_ trips: [RoundTrip], beyond base: Int64 = 0, drift: Double, isFirstHand: Bool = true) {
        guard let time = trips.last?.arrived else { return nil }
        let lowest = trips.map { $0.lowest(beyond: base).offset(at: time, drift: drift) }
        let highest = trips.map { $0.highest(beyond: base).offset(at: time, drift: drift) }
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
        (lower, upper) = (trips[low].lowest(beyond: base), trips[high].highest(beyond: base))
        (self.base, self.isFirstHand) = (base, isFirstHand)
    }

    /// When the later of its bounds was found.
    var time: HostTime { max(lower.time, upper.time) }

    /// The distance of the bounds, in microseconds: the least time there plus the least time back.
    var width: Double { upper.offset - lower.offset }

    /// The possible offsets at a time.
    func range(at time: HostTime, drift: Double) -> (low: Double, high: Double) {
        (lower.offset(at: time, drift: drift), upper.offset(at: time, drift: drift))
    }
}
