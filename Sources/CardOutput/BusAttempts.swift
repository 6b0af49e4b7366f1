internal import Glibc
package import RealTime

/// What is to be said of the session's bus, on which sound cards are reserved.
package enum BusNews: Hashable, Sendable {
    /// It cannot be reached, as for a system service; any card is opened without being reserved.
    case absent(SystemCallError)
    /// It was reached, and then failed; likewise.
    case lost(SystemCallError)
    /// It is back after it was lost, or there for the first time.
    case back
}

/// When to connect to the session's bus again after a failure, and what to say of it.
struct BusAttempts {
    /// Time from a failure to the next attempt, in nanoseconds.
    static let pause: Int64 = 5_000_000_000

    /// When to try next; nil if that would be of no use.
    private(set) var next: MonotonicTime?
    private var hasAnswered = false
    private var isSaid = false

    /// Takes that connecting, or a connection, has failed.
    ///
    /// - Returns: what to say; nil if it has been said since the bus last answered.
    mutating func failed(_ error: SystemCallError, at now: MonotonicTime) -> BusNews? {
        // Neither libsystemd nor the variable that says where the bus is comes later.
        let isFinal = error.code == ELIBACC || error.code == ENOMEDIUM
        next = isFinal ? nil : now.advanced(byNanoseconds: Self.pause)
        defer { isSaid = true }
        return isSaid ? nil : hasAnswered ? .lost(error) : .absent(error)
    }

    /// Takes that the bus has answered; only then it is known to work.
    ///
    /// - Returns: what to say.
    mutating func answered() -> BusNews? {
        defer { (hasAnswered, isSaid) = (true, false) }
        return isSaid ? .back : nil
    }
}
