internal import BeatTime

/// How long devices wait that a crashed run has left playing, until it is known whether there is a song to join.
///
/// Such a device either plays on by itself or stands still in the middle of a bar, for want of a clock. It hears nothing
/// at first: ticks would only move it on at the wrong place. As soon as a session is joined it is treated like a device
/// that has come back. A song that plays is entered at a bar, after a Stop; without one there is just the Stop.
struct Recovery: Hashable, Sendable {
    /// When the waiting ends at the latest; nil if nothing waits.
    private(set) var deadline: HostTime?

    /// Microseconds in which a session that is there has nearly always been joined.
    static let longest: Int64 = 1_500_000

    /// Begins to wait.
    ///
    /// - Parameters:
    ///   - isNeeded: whether a device was left playing.
    ///   - now: the present time.
    init(isNeeded: Bool, at now: HostTime) {
        deadline = isNeeded ? now.advanced(byMicroseconds: Self.longest) : nil
    }

    /// Ends the waiting if there is no more to wait for.
    ///
    /// - Parameters:
    ///   - isLinkOn: whether a session may be joined at all.
    ///   - isConnected: whether one has been.
    ///   - now: the present time.
    /// - Returns: whether it ends now.
    mutating func ends(isLinkOn: Bool, isConnected: Bool, at now: HostTime) -> Bool {
        guard let deadline, isConnected || !isLinkOn || now >= deadline else { return false }
        self.deadline = nil
        return true
    }
}
