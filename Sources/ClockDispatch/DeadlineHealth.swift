package import BeatTime
internal import Synchronization

/// Limits at which the output thread counts as missing its deadlines.
package enum DeadlineHealth {
    /// Lateness at which the thread counts as stuck, in nanoseconds.
    ///
    /// The thread may busy-wait for up to 2 ms by design.
    package static let stuck: Int64 = 100_000_000
    /// Ticks are remembered for one to two times this, in microseconds.
    static let span: Int64 = 5_000_000
    /// Too many ticks are late if it is more than one in this many, and at least ``few``.
    static let share: UInt64 = 100
    static let few: UInt64 = 3
}

extension OutputCounters {
    /// Counts a tick: all ticks in the lower half of the word, late ones in the upper half.
    ///
    /// A reader thus sees both counts as of the same moment.
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
