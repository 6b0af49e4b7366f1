import RealTime

/// Decides when the clock counts as running, and when as hung.
///
/// A running clock wakes at the times it has announced, at most a second apart. A service manager restarts a program
/// whose clock hangs. Machines lose their clock during a restart, so a late clock has half a second to come back. It
/// must also be found late twice: after the whole process was stopped, the first check may come before its turn.
struct ClockWatch {
    /// What to report to the service manager.
    enum Report: Hashable {
        /// The clock runs, and the manager does not know it yet.
        case ready
        case alive
        /// The clock has missed its own deadline, by nanoseconds.
        case hung(overdue: Int64)
    }

    /// How far past its own deadline the clock counts as hung, in nanoseconds.
    static let longestDelay: Int64 = 500_000_000
    /// Interval between checks until the service manager knows that the clock runs, in nanoseconds.
    static let startInterval: Int64 = 5_000_000
    /// Interval between checks of a late clock, in nanoseconds.
    static let lateInterval: Int64 = 50_000_000

    /// Interval between checks of a running clock, in nanoseconds; nil if nobody waits for reports.
    let interval: Int64?
    /// Whether the manager has been told that the clock runs; the caller sets it.
    var isReadyTold = false
    private var isLate = false

    /// - Parameter interval: see ``interval``.
    init(interval: Int64?) { self.interval = interval }

    /// Checks the clock.
    ///
    /// - Parameters:
    ///   - wakesAt: when the clock is due to run next; nil if it has not run yet.
    ///   - now: the present time.
    /// - Returns: what to report now, if anything.
    mutating func check(wakesAt: MonotonicTime?, at now: MonotonicTime) -> Report? {
        guard let wakesAt else { return nil }
        let wasLate = isLate
        isLate = wakesAt.advanced(byNanoseconds: Self.longestDelay) < now
        guard !isLate else { return wasLate ? .hung(overdue: now.nanoseconds - wakesAt.nanoseconds) : nil }
        return isReadyTold ? .alive : .ready
    }

    /// When to check again; nil if never.
    func nextCheck(after now: MonotonicTime) -> MonotonicTime? {
        let wait = isLate ? Self.lateInterval : isReadyTold ? interval : Self.startInterval
        return wait.map(now.advanced(byNanoseconds:))
    }
}
