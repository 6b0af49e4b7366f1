internal import BeatTime

/// One tick of a leader as the follower stores it.
struct StampedTick: Sendable {
    /// Its number on the leader's unbroken count.
    var number: Int64
    /// When it arrived, in microseconds of host time.
    var time: Int64
    /// Microseconds added to `time`, to pull an outlier toward its expected place.
    var correction: Double

    /// Its time of arrival, moved by some microseconds.
    func time(_ distance: Int64) -> HostTime { HostTime(microseconds: time &+ distance) }
}

/// The last ticks of a leader, by their age; allocates only in `init`.
struct TickRing: Sendable {
    /// Most ticks stored; a power of two.
    static let capacity = 256

    private var ticks: [StampedTick]
    private var newestSlot = 0
    /// Number of ticks stored.
    private(set) var count = 0

    init() {
        ticks = Array(repeating: StampedTick(number: 0, time: 0, correction: 0), count: Self.capacity)
    }

    /// The tick that came `age` ticks before the newest; `age` is below ``count``.
    subscript(age: Int) -> StampedTick {
        get { ticks[(newestSlot - age) & (Self.capacity - 1)] }
        set { ticks[(newestSlot - age) & (Self.capacity - 1)] = newValue }
    }

    /// Adds a tick; replaces the oldest when full.
    mutating func append(_ tick: StampedTick) {
        newestSlot = (newestSlot + 1) & (Self.capacity - 1)
        ticks[newestSlot] = tick
        count = min(count + 1, Self.capacity)
    }

    /// Removes the newest; there must be one.
    mutating func removeNewest() {
        newestSlot = (newestSlot - 1) & (Self.capacity - 1)
        count -= 1
    }

    /// Removes all but the newest.
    mutating func keep(newest kept: Int) { count = min(count, kept) }
}
