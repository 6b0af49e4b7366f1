import DBus

/// What a service manager such as systemd asks of this process, in its environment.
///
/// See sd_notify(3) and sd_watchdog_enabled(3).
struct ServiceRequest: Hashable {
    /// Where it wants to be told; nil if it does not, or the address is of no use.
    var address: UnixAddress?
    /// Nanoseconds between two reports that the clock is alive; nil if it waits for none.
    var interval: Int64?
    /// What is wrong in the environment, for people.
    var problems: [String] = []

    /// Time between two reports, in nanoseconds.
    ///
    /// More often would keep the clock's processor busy; more seldom, a clock that hangs would be found late.
    static let intervals: ClosedRange<Int64> = 10_000_000...250_000_000
    /// Reports within the time that the manager waits, at least; it may miss some.
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

    /// Whether this process is to report; a report too many does no harm.
    private mutating func isMeant(_ process: Int32, by text: String?) -> Bool {
        guard let text else { return true }
        guard let wanted = Int32(text) else {
            problems.append("WATCHDOG_PID is no process number: '\(text)'")
            return true
        }
        return wanted == process
    }
}
