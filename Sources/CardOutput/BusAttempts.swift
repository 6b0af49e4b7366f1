internal import Glibc
package import RealTime

/// What is to be said of the session's bus, on which sound cards are reserved.
package enum BusNews: Hashable, Sendable {
    /// It cannot be reached, as for a system service; any card is opened without being reserved.
    case absent(SystemCallError)
    /// It was reached, and then failed; likewise.
    case lost(SystemCallError)
    /// It has been back for a minute after it was lost, or is there for the first time.
    case back
}

/// When to connect to the session's bus again after a failure, and what to say of it.
struct BusAttempts {
    /// Time from a failure to the next attempt, in nanoseconds.
    static let pause: Int64 = 5_000_000_000
    /// Time from the first answer after a failure until the bus is told to be back, in nanoseconds.
    ///
    /// So a bus that answers and fails again and again does not fill the log.
    static let trial: Int64 = 60_000_000_000

    /// When to try next; nil if that would be of no use.
    private(set) var next: MonotonicTime?
    /// When to tell that the bus is back, if it does not fail until then; nil if there is nothing to tell.
    private(set) var backAt: MonotonicTime?
    private var hasAnswered = false
    /// Whether it was told that the bus has failed, and not that it is back.
    private var isSaid = false

    /// Takes that connecting, or a connection, has failed.
    ///
    /// - Returns: what to say; nil if that has been said, and not that the bus is back.
    mutating func failed(_ error: SystemCallError, at now: MonotonicTime) -> BusNews? {
        // Neither libsystemd nor the variable that says where the bus is comes later.
        let isFinal = error.code == ELIBACC || error.code == ENOMEDIUM
        next = isFinal ? nil : now.advanced(byNanoseconds: Self.pause)
        backAt = nil
        defer { isSaid = true }
        return isSaid ? nil : hasAnswered ? .lost(error) : .absent(error)
    }

    /// Takes that the bus has answered; only then it is known to work.
    mutating func answered(at now: MonotonicTime) {
        hasAnswered = true
        if isSaid, backAt == nil { backAt = now.advanced(byNanoseconds: Self.trial) }
    }

    /// Takes that the connection has held until now.
    ///
    /// - Returns: what to say.
    mutating func timePassed(to now: MonotonicTime) -> BusNews? {
        guard let backAt, backAt <= now else { return nil }
        (self.backAt, isSaid) = (nil, false)
        return .back
    }
}
