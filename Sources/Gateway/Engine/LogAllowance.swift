internal import BeatTime

/// Limits the log lines that anybody on the network can cause, so that nobody fills the log.
///
/// Lines beyond the limit are counted, and the number is told as soon as the limit allows.
struct LogAllowance: Hashable, Sendable {
    /// Most lines at once, so that an ordinary session is logged completely.
    static let atOnce: Int64 = 30
    /// Microseconds until one more line is allowed.
    static let interval: Int64 = 10_000_000

    /// Lines that were left out and are not told yet.
    private(set) var leftOut = 0
    /// When `atOnce` lines are allowed again; nil if they were never used up.
    private var completeAt: HostTime?

    /// Takes a place for one line if there is one; else counts the line as left out.
    mutating func takes(at now: HostTime) -> Bool {
        let completeAt = completeAt.map { max($0, now) } ?? now
        let isFree = completeAt.microseconds - now.microseconds <= (Self.atOnce - 1) * Self.interval
        if isFree {
            self.completeAt = completeAt.advanced(byMicroseconds: Self.interval)
        } else {
            leftOut += 1
        }
        return isFree
    }

    /// When to tell the number of lines left out; nil if there are none.
    var deadline: HostTime? {
        guard leftOut > 0, let completeAt else { return nil }
        return completeAt.advanced(byMicroseconds: -(Self.atOnce - 1) * Self.interval)
    }

    /// The number of lines left out, if it is time to tell it; takes a place for that.
    mutating func takeLeftOut(at now: HostTime) -> Int? {
        guard let deadline, deadline <= now, takes(at: now) else { return nil }
        defer { leftOut = 0 }
        return leftOut
    }
}
