import Glibc
import RealTime

/// When a run that was asked to end is ended by force, so that nothing that hangs can keep a machine playing.
///
/// A value: it takes requests and the time, and says what to do.
struct RunEnd {
    enum Action: Hashable {
        /// Begin to end in order.
        case begin
        /// Have the output thread send its Stops, whatever the other threads wait for.
        case stopMachines
        case exit(code: Int32)
    }

    /// Whether the machines are stopped, and the process ended, after a while.
    ///
    /// Commands that drive no machine have all the time they need, such as to write a report.
    let isForced: Bool
    private var began: MonotonicTime?
    private var code: Int32 = 0
    private var isInsisting = false
    private var hasStopped = false

    /// Longest wait for an orderly end to stop the machines, in nanoseconds; it takes milliseconds if nothing hangs.
    static let stopPatience: Int64 = 1_500_000_000
    /// Longest wait for an orderly end of the process, in nanoseconds.
    static let patience: Int64 = 10_000_000_000

    init(isForced: Bool) { self.isForced = isForced }

    /// Processes a signal that asks to end.
    ///
    /// - Parameters:
    ///   - signal: a second SIGINT, SIGTERM or SIGQUIT ends the process at once. Others do not, since a closing terminal
    ///     may send two.
    ///   - now: the present time.
    /// - Returns: what to do, in order.
    mutating func requested(by signal: Int32, at now: MonotonicTime) -> [Action] {
        let isNew = began == nil
        if isNew { (began, code) = (now, 128 + signal) }
        guard [SIGINT, SIGTERM, SIGQUIT].contains(signal) else { return isNew ? [.begin] : [] }
        guard isInsisting else {
            isInsisting = true
            return isNew ? [.begin] : []
        }
        return [.stopMachines, .exit(code: 128 + signal)]
    }

    /// When ``timePassed(to:)`` is due; nil if never.
    var deadline: MonotonicTime? {
        guard isForced, let began else { return nil }
        return began.advanced(byNanoseconds: hasStopped ? Self.patience : Self.stopPatience)
    }

    /// Says what is due.
    mutating func timePassed(to now: MonotonicTime) -> Action? {
        guard let deadline, deadline <= now else { return nil }
        guard !hasStopped else { return .exit(code: code) }
        hasStopped = true
        return .stopMachines
    }
}
