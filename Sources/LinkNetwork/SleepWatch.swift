internal import Glibc

/// Notices that the machine has been suspended: one clock counts that time, the other does not.
struct SleepWatch {
    private var asleep = Self.nanosecondsAsleep()

    /// More than two readings of clocks can lie apart.
    private static let threshold = 100_000_000

    /// Whether the machine has slept since this was last asked.
    mutating func hasSlept() -> Bool {
        let before = asleep
        asleep = Self.nanosecondsAsleep()
        return asleep - before > Self.threshold
    }

    /// How long the machine has slept since it was started.
    private static func nanosecondsAsleep() -> Int {
        var (all, awake) = (timespec(), timespec())
        clock_gettime(CLOCK_BOOTTIME, &all)
        clock_gettime(CLOCK_MONOTONIC, &awake)
        return (all.tv_sec - awake.tv_sec) * 1_000_000_000 + all.tv_nsec - awake.tv_nsec
    }
}
