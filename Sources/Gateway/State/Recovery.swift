internal import BeatTime

/// How long devices left playing by a crashed run wait until it is known whether to join a song.
///
/// Such a device either plays on by itself, or stands still in the middle of a bar because it gets no clock. Ticks
/// would only move it on at the wrong place, so it gets nothing at first. As soon as a session is joined it is treated
/// like a device that returns: it gets a Stop, and enters at a bar if a song plays.
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
