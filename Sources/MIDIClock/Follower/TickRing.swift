internal import BeatTime

/// One tick of a leader as the follower keeps it.
struct StampedTick: Sendable {
    /// Its number on the leader's unbroken count.
    var number: Int64
    /// When it came, in microseconds of host time.
    var time: Int64
    /// Microseconds to add to `time`: an outlier is drawn in towards where it was expected.
    var correction: Double

    /// When it came, moved by so many microseconds.
    func time(_ distance: Int64) -> HostTime { HostTime(microseconds: time &+ distance) }
}

/// The last ticks of a leader that may be believed, newest last; allocates only when made.
struct TickRing: Sendable {
    /// How many ticks are kept; a power of two.
    static let capacity = 256

    private var ticks: [StampedTick]
    private var newestSlot = 0
    /// How many there are.
    private(set) var count = 0

    init() {
        ticks = Array(repeating: StampedTick(number: 0, time: 0, correction: 0), count: Self.capacity)
    }

    /// The tick that came `age` ticks before the newest; `age` is below ``count``.
    subscript(age: Int) -> StampedTick {
        get { ticks[(newestSlot - age) & (Self.capacity - 1)] }
        set { ticks[(newestSlot - age) & (Self.capacity - 1)] = newValue }
    }

    /// Takes in a tick, in place of the oldest when full.
    mutating func append(_ tick: StampedTick) {
        newestSlot = (newestSlot + 1) & (Self.capacity - 1)
        ticks[newestSlot] = tick
        count = min(count + 1, Self.capacity)
    }

    /// Forgets the newest; there must be one.
    mutating func removeNewest() {
        newestSlot = (newestSlot - 1) & (Self.capacity - 1)
        count -= 1
    }

    /// Forgets all but the newest.
    mutating func keep(newest kept: Int) { count = min(count, kept) }
}
