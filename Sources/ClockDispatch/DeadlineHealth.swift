package import BeatTime
internal import Synchronization

/// When the output thread counts as not meeting its deadlines.
package enum DeadlineHealth {
    /// The thread counts as stuck when it is this late, in nanoseconds.
    ///
    /// It may busy-wait for 2 ms by itself.
    package static let stuck: Int64 = 100_000_000
    /// Ticks are remembered that long at least, in microseconds, and twice as long at most.
    static let span: Int64 = 5_000_000
    /// Too many: more than one late tick in this many, and at least ``few``.
    static let share: UInt64 = 100
    static let few: UInt64 = 3
}

extension OutputCounters {
    /// Counts a tick: all of a span in the lower half of a word, late ones in the upper, so that whoever reads sees both
    /// as they were at one time.
    func noteDeadline(isLate: Bool, at time: HostTime) {
        let age = time.microseconds - recentSince.load(ordering: .relaxed)
        if age >= DeadlineHealth.span {
            earlier.store(age < 2 * DeadlineHealth.span ? recent.load(ordering: .relaxed) : 0, ordering: .relaxed)
            recent.store(0, ordering: .relaxed)
            recentSince.store(time.microseconds, ordering: .relaxed)
        }
        recent.wrappingAdd(isLate ? 1 << 32 + 1 : 1, ordering: .relaxed)
    }

    /// Whether too many of the last seconds' ticks were late.
    package func isOftenLate(at time: HostTime) -> Bool {
        guard time.microseconds - recentSince.load(ordering: .relaxed) < 2 * DeadlineHealth.span else { return false }
        let words = (recent.load(ordering: .relaxed), earlier.load(ordering: .relaxed))
        let late = words.0 >> 32 + words.1 >> 32
        return late >= DeadlineHealth.few && late * DeadlineHealth.share > words.0 & 0xFFFF_FFFF + words.1 & 0xFFFF_FFFF
    }
}
