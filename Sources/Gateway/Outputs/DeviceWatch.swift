internal import BeatTime

/// When devices are looked at: every few seconds, as long as there are any that nobody announces anything of.
struct DeviceWatch: Hashable, Sendable {
    /// When to look next; nil while there is nothing to look at.
    private(set) var next: HostTime?

    /// Microseconds from one look to the next: long enough for the slowest device to have taken something.
    static let interval: Int64 = 3_000_000

    /// Keeps time, as often as it is asked.
    ///
    /// - Parameters:
    ///   - isWanted: whether there is anything to look at.
    ///   - now: the present time.
    /// - Returns: whether it is time to look.
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
