internal import RealTime

/// Whether other programs' queues hold up ours.
///
/// All queues share one timer of the kernel. While another queue keeps it running, one that is started waits for the
/// next beat: up to a millisecond if the other is as slow as queues are by default. Then a pacemaker of our own makes
/// it beat every 160 us. It costs some thousand interrupts a second, so it is given up now and then to see.
struct ForeignTimers {
    private var armings = 0
    private var pacemakerEnd: MonotonicTime?
    private var looksAtNext = false

    /// Delays up to that, in nanoseconds, are as good as it gets.
    private static let tolerated: Int64 = 2 * QueueGrid.period
    private static let pacemakerTime: Int64 = 10_000_000_000

    /// Whether to measure the delay of the arming at hand.
    mutating func wantsLook() -> Bool {
        armings &+= 1
        return armings % 16 == 0 || looksAtNext
    }

    /// Takes what was measured.
    ///
    /// - Parameters:
    ///   - delay: how much later than asked for the queue began, in nanoseconds.
    ///   - now: the present time.
    /// - Returns: whether the pacemaker is to run from now on; nil to leave it as it is.
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
