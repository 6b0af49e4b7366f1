internal import BeatTime

/// When Link leaves the network for a user who wants that: once there has been no use for it for a while.
struct Idleness: Hashable, Sendable {
    /// Whether Link is to take part.
    private(set) var isActive = true
    /// When to look again; nil as long as only news can change anything.
    private(set) var next: HostTime?
    private var wasUsed = true
    private var lastUse: HostTime

    /// Microseconds without use until Link leaves: a page loaded again or a plug put back must not cost the session.
    static let idleTimeout: Int64 = 3_000_000

    /// Idle from now on, if nothing is told otherwise.
    init(at now: HostTime) { lastUse = now }

    /// Keeps time: whenever something may have happened, and at ``next``.
    ///
    /// - Parameters:
    ///   - isUsed: whether there is something to drive, or the user wants Link on the network in any case.
    ///   - watched: when somebody last watched the gateway.
    ///   - now: the present time.
    /// - Returns: whether ``isActive`` has changed.
    mutating func hasChanged(isUsed: Bool, lastWatched watched: HostTime, at now: HostTime) -> Bool {
        // Nobody said when in the meantime it ceased to be used.
        if isUsed || wasUsed { lastUse = now }
        wasUsed = isUsed
        let end = max(lastUse, watched).advanced(byMicroseconds: Self.idleTimeout)
        let before = isActive
        isActive = now < end
        next = isUsed || !isActive ? nil : end
        return isActive != before
    }
}
