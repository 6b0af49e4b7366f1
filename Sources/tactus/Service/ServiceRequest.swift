import Essentials

/// What a service manager such as systemd wants from this process, according to the environment.
///
/// See sd_notify(3) and sd_watchdog_enabled(3).
struct ServiceRequest: Hashable {
    /// Where to send reports; nil if it wants none, or the address is invalid.
    var address: UnixAddress?
    /// Nanoseconds between two reports that the clock is alive; nil if it wants none.
    var interval: Int64?
    /// What is wrong in the environment, for people.
    var problems: [String] = []

    /// Limits of the time between two reports, in nanoseconds.
    ///
    /// With shorter times the reports would keep a processor busy, with longer ones a hang would be found late.
    static let intervals: ClosedRange<Int64> = 10_000_000...250_000_000
    /// Number of reports within the manager's timeout, so that it may miss some.
    private static let reports: Int64 = 4

    /// - Parameters:
    ///   - process: number of this process.
    ///   - variable: a variable of the environment by its name.
    init(process: Int32, variable: (String) -> String?) {
        if let text = variable("NOTIFY_SOCKET") {
            address = UnixAddress(text)
            if address == nil { problems.append("NOTIFY_SOCKET is neither a path nor @ and a name: '\(text)'") }
        }
        guard let text = variable("WATCHDOG_USEC"), isMeant(process, by: variable("WATCHDOG_PID")) else { return }
        guard let wait = Int64(text), wait > 0, wait <= Int64.max / 1_000 else {
            problems.append("WATCHDOG_USEC is no number of microseconds: '\(text)'")
            return
        }
        interval = min(max(Self.intervals.lowerBound, wait * 1_000 / Self.reports), Self.intervals.upperBound)
        if variable("NOTIFY_SOCKET") == nil { problems.append("WATCHDOG_USEC needs NOTIFY_SOCKET, which is not set") }
    }

    /// Whether this process should report; if in doubt it does, because an extra report does no harm.
    private mutating func isMeant(_ process: Int32, by text: String?) -> Bool {
        guard let text else { return true }
        guard let wanted = Int32(text) else {
            problems.append("WATCHDOG_PID is no process number: '\(text)'")
            return true
        }
        return wanted == process
    }
}
