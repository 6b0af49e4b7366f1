package import BeatTime

/// A node's own clock, with its own start and a small rate error.
package struct NodeClock: Sendable {
    /// What the clock shows when the world begins, in microseconds.
    package var offset: Int64
    /// Its rate error in parts per million.
    package var skew: Int64

    package init(offset: Int64, skew: Int64) {
        self.offset = offset
        self.skew = skew
    }

    /// A clock that started within the last day, with a limited rate error in parts per million.
    package init(skewUpTo limit: Int64, using random: inout SeededGenerator) {
        offset = Int64.random(in: 1_000_000...86_400_000_000, using: &random)
        skew = Int64.random(in: -limit...limit, using: &random)
    }

    /// What the clock shows.
    package func hostTime(at time: WorldTime) -> HostTime {
        let elapsed = time.microseconds
        return HostTime(microseconds: offset + elapsed + elapsed * skew / 1_000_000)
    }

    /// The earliest world time at which the clock shows a given time.
    package func worldTime(of time: HostTime) -> WorldTime {
        let shown = time.microseconds - offset
        // Rounding may make this a microsecond or two too early, never too late.
        var world = WorldTime(microseconds: shown * 1_000_000 / (1_000_000 + skew) - 3)
        while hostTime(at: world) < time { world.microseconds += 1 }
        return world
    }
}
