internal import RealTime

/// The kernel's own timer tick.
///
/// An interrupted thread continues when the tick, and any work the kernel had postponed until then, is done.
enum KernelTick {
    /// Ticks usually fall on whole milliseconds, though not on all of them; in nanoseconds.
    ///
    /// On a kernel with other ticks this gains nothing, and costs nothing.
    private static let grid: Int64 = 1_000_000
    /// Longest delay by one tick, in nanoseconds.
    static let work: Int64 = 30_000
    /// Time to write a message to the sequencer, in nanoseconds.
    static let write: Int64 = 6_000

    /// Whether a tick falls after one time and not after another.
    static func falls(after earlier: MonotonicTime, until later: MonotonicTime) -> Bool {
        earlier.nanoseconds / grid != later.nanoseconds / grid
    }
}
