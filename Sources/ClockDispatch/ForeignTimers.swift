internal import RealTime

/// Detects that other programs' queues delay ours.
///
/// All queues share one timer of the kernel. While another queue keeps it running, a newly started queue waits for the
/// next beat of that timer, up to 1 ms with the default resolution of queues. A pacemaker of our own then makes it beat
/// every 160 us. That costs thousands of interrupts a second, so it is stopped now and then to check.
struct ForeignTimers {
    private var armings = 0
    private var pacemakerEnd: MonotonicTime?
    private var looksAtNext = false

    /// Delays up to this, in nanoseconds, cannot be improved.
    private static let tolerated: Int64 = 2 * QueueGrid.period
    private static let pacemakerTime: Int64 = 10_000_000_000

    /// Whether to measure the delay of this start of the queue.
    mutating func wantsLook() -> Bool {
        armings &+= 1
        return armings % 16 == 0 || looksAtNext
    }

    /// Takes a measurement.
    ///
    /// - Parameters:
    ///   - delay: nanoseconds by which the queue started later than asked.
    ///   - now: the present time.
    /// - Returns: whether the pacemaker must run from now on; nil to leave it as it is.
    mutating func started(late delay: Int64, at now: MonotonicTime) -> Bool? {
        looksAtNext = false
        if let end = pacemakerEnd {
            guard now >= end else { return nil }
            (pacemakerEnd, looksAtNext) = (nil, true)
            return false
        }
        guard delay > Self.tolerated else { return nil }
        pacemakerEnd = now.advanced(byNanoseconds: Self.pacemakerTime)
        return true
    }
}
