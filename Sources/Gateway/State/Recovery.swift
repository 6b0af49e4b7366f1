internal import BeatTime

/// The wait in which devices that the last run left playing are sent nothing, because their right state is not known.
///
/// Such a device either plays on by itself, or waits in the middle of a bar because it gets no clock. Ticks would only
/// make it play on at the wrong place. The wait ends when a session is joined, when Link is off, or after 1.5 s. The
/// device is then treated like one that returns: it gets a Stop, and enters at a bar if a song plays.
struct Recovery: Hashable, Sendable {
    /// Latest end of the wait; nil if nothing waits.
    private(set) var deadline: HostTime?

    /// Longest wait in microseconds; an existing session is nearly always joined sooner.
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
    ///   - isConnected: whether the session has peers.
    ///   - now: the present time.
    /// - Returns: whether it ends now.
    mutating func endIfOver(isLinkOn: Bool, isConnected: Bool, at now: HostTime) -> Bool {
        guard let deadline, isConnected || !isLinkOn || now >= deadline else { return false }
        self.deadline = nil
        return true
    }
}
