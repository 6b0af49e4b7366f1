internal import BeatTime

/// When to check devices: every few seconds while there are any whose state is not announced.
struct DeviceWatch: Hashable, Sendable {
    /// When to check next; nil while there is nothing to check.
    private(set) var next: HostTime?

    /// Microseconds between checks, long enough for the slowest device to have accepted something.
    static let interval: Int64 = 3_000_000

    /// Keeps the schedule; may be called at any time.
    ///
    /// - Parameters:
    ///   - isWanted: whether there is anything to check.
    ///   - now: the present time.
    /// - Returns: whether a check is due.
    mutating func isDue(isWanted: Bool, at now: HostTime) -> Bool {
        guard isWanted else {
            next = nil
            return false
        }
        let isDue = next.map { $0 <= now } ?? false
        if isDue || next == nil { next = now.advanced(byMicroseconds: Self.interval) }
        return isDue
    }
}
