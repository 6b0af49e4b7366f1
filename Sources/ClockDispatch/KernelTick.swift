internal import RealTime

/// The kernel's own timer tick: the thread that it interrupts goes on when the tick has done its work, and also what
/// the kernel had put off until then.
enum KernelTick {
    /// Ticks usually fall on whole milliseconds, if not on all of them; in nanoseconds.
    ///
    /// With a kernel that has them elsewhere nothing is won, and nothing lost.
    private static let grid: Int64 = 1_000_000
    /// How long one holds a thread up at most, in nanoseconds.
    static let work: Int64 = 30_000
    /// How long a thread takes to write a message to the sequencer, in nanoseconds.
    static let write: Int64 = 6_000

    /// Whether one falls after one time and not after another.
    static func falls(after earlier: MonotonicTime, until later: MonotonicTime) -> Bool {
        earlier.nanoseconds / grid != later.nanoseconds / grid
    }
}
