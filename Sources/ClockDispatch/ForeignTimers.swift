internal import RealTime

/// Detects that other programs' queues delay ours.
///
/// All queues share one timer of the kernel. While another queue keeps it running, a newly started queue waits until
/// that timer fires next, up to 1 ms with the default resolution of queues. A pacemaker of our own then makes it fire
/// every 160 us. That costs thousands of interrupts a second, so the pacemaker is stopped every 10 s, to check whether
/// it is still needed.
struct ForeignTimers {
    private var armings = 0
    private var pacemakerEnd: MonotonicTime?
    private var measuresNext = false

    /// Delays up to this, in nanoseconds, cannot be improved.
    private static let tolerated: Int64 = 2 * QueueGrid.period
    /// How long the pacemaker runs before it is stopped to check, in nanoseconds.
    private static let pacemakerTime: Int64 = 10_000_000_000

    /// Whether to measure the delay of this start of the queue.
    mutating func wantsMeasurement() -> Bool {
        armings &+= 1
        return armings % 16 == 0 || measuresNext
    }

    /// Takes a measurement.
    ///
    /// - Parameters:
    ///   - delay: nanoseconds by which the queue started later than asked.
    ///   - now: the present time.
    /// - Returns: whether the pacemaker must run from now on; nil to leave it as it is.
    mutating func started(late delay: Int64, at now: MonotonicTime) -> Bool? {
        measuresNext = false
        if let end = pacemakerEnd {
            guard now >= end else { return nil }
            (pacemakerEnd, measuresNext) = (nil, true)
            return false
        }
        guard delay > Self.tolerated else { return nil }
        pacemakerEnd = now.advanced(byNanoseconds: Self.pacemakerTime)
        return true
    }
}
