internal import BeatTime

/// How long devices that a crashed run left playing get nothing, because it is not yet known what they should do.
///
/// Such a device either plays on by itself, or waits in the middle of a bar because it gets no clock. Ticks would only
/// make it play on at the wrong place. As soon as a session is joined, or is known not to exist, the device is treated
/// like one that returns: it gets a Stop, and enters at a bar if a song plays.
struct Recovery: Hashable, Sendable {
    /// Latest end of the wait; nil if nothing waits.
    private(set) var deadline: HostTime?

    /// Microseconds within which an existing session has nearly always been joined.
    static let longest: Int64 = 1_500_000

    /// Starts the wait.
    ///
    /// - Parameters:
    ///   - isNeeded: whether a device was left playing.
    ///   - now: the present time.
    init(isNeeded: Bool, at now: HostTime) {
        deadline = isNeeded ? now.advanced(byMicroseconds: Self.longest) : nil
    }

    /// Ends the wait if it is over.
    ///
    /// - Parameters:
    ///   - isLinkOn: whether a session may be joined at all.
    ///   - isConnected: whether one was joined.
    ///   - now: the present time.
    /// - Returns: whether it ends now.
    mutating func ends(isLinkOn: Bool, isConnected: Bool, at now: HostTime) -> Bool {
        guard let deadline, isConnected || !isLinkOn || now >= deadline else { return false }
        self.deadline = nil
        return true
    }
}
