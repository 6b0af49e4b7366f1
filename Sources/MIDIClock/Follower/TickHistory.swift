/// A Timing Clock of a leader as the follower stores it.
struct StampedTick: Sendable, BitwiseCopyable {
    /// Its number on the leader's unbroken count.
    var number: Int64
    /// When it arrived, in microseconds of host time.
    var time: Int64
    /// Whether lines leave it out, because it came at no time that the leader's coarseness explains.
    var isAside = true
}

/// The newest ticks of a leader, and which of them lines are drawn through; allocates only in `init`.
struct TickHistory: Sendable {
    /// Most ticks kept: 16 beats.
    static let capacity = 384

    private(set) var ticks: [StampedTick] = []
    /// Index of the first tick that lines are drawn through.
    private(set) var begin = 0
    /// Index of the first of the newest ticks that were set aside and are not decided yet.
    private(set) var asideFrom: Int?
    /// Number of ticks that lines are drawn through.
    private(set) var used = 0

    init() { ticks.reserveCapacity(2 * Self.capacity) }

    /// Number of ticks kept.
    var count: Int { min(ticks.count, Self.capacity) }
    /// The tick that came `age` ticks before the newest; `age` is below ``count``.
    subscript(age: Int) -> StampedTick { ticks[ticks.count - 1 - age] }
    /// The first tick that lines are drawn through; there must be one.
    var first: StampedTick { ticks[begin] }
    /// The newest tick; there must be one.
    var newest: StampedTick { ticks[ticks.count - 1] }
    /// Number of ticks set aside and not decided yet.
    var asideCount: Int { asideFrom.map { ticks.count - $0 } ?? 0 }

    /// Adds a tick, set aside until ``useNewest()``.
    mutating func append(number: Int64, time: Int64) {
        if ticks.count == 2 * Self.capacity {
            ticks.removeFirst(Self.capacity)
            begin = max(0, begin - Self.capacity)
            asideFrom = asideFrom.map { max(0, $0 - Self.capacity) }
        }
        ticks.append(StampedTick(number: number, time: time))
        while begin < ticks.count - Self.capacity { dropOldest() }
    }

    /// Draws lines through the newest tick, too; those set aside before it were late for some other reason.
    mutating func useNewest() {
        asideFrom = nil
        guard newest.isAside else { return }
        ticks[ticks.count - 1].isAside = false
        used += 1
    }

    /// Leaves the newest tick aside until more of them tell why.
    mutating func leaveNewestAside() { asideFrom = asideFrom ?? ticks.count - 1 }

    /// Draws lines through those of the ticks set aside that fit.
    mutating func useAside(where fits: (StampedTick) -> Bool = { _ in true }) {
        guard let asideFrom else { return }
        for index in asideFrom..<ticks.count where ticks[index].isAside && fits(ticks[index]) {
            ticks[index].isAside = false
            used += 1
        }
        self.asideFrom = nil
    }

    /// Leaves out the oldest tick of the lines.
    mutating func dropOldest() {
        if !ticks[begin].isAside { used -= 1 }
        begin += 1
        while begin < ticks.count, ticks[begin].isAside { begin += 1 }
        if let asideFrom, asideFrom < begin { self.asideFrom = nil }
    }

    /// Draws lines through the newest ticks only.
    mutating func keep(newest kept: Int) {
        while used > kept { dropOldest() }
    }

    /// Adds to the number of a tick before the newest one, but never beyond that of the next one.
    mutating func move(_ index: Int, by distance: Int64) {
        ticks[index].number = min(ticks[index].number &+ distance, ticks[index + 1].number)
    }

    /// Adds to the numbers of all ticks from an index on.
    mutating func renumber(from index: Int, by distance: Int64) {
        for index in index..<ticks.count { ticks[index].number &+= distance }
    }
}
