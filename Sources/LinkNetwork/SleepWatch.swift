internal import Glibc

/// Detects that the machine was suspended.
///
/// CLOCK_BOOTTIME counts the time in suspend and CLOCK_MONOTONIC does not, so their difference grows.
struct SleepWatch {
    private var asleep = Self.nanosecondsAsleep()

    /// In nanoseconds; more than the time that can pass between reading the two clocks.
    private static let threshold = 100_000_000

    /// Whether the machine was suspended since the last call.
    mutating func hasSlept() -> Bool {
        let before = asleep
        asleep = Self.nanosecondsAsleep()
        return asleep - before > Self.threshold
    }

    /// Total time in suspend since boot, in nanoseconds.
    private static func nanosecondsAsleep() -> Int {
        var (all, awake) = (timespec(), timespec())
        clock_gettime(CLOCK_BOOTTIME, &all)
        clock_gettime(CLOCK_MONOTONIC, &awake)
        return (all.tv_sec - awake.tv_sec) * 1_000_000_000 + all.tv_nsec - awake.tv_nsec
    }
}
