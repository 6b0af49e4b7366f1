internal import BeatTime

/// Decides when Link leaves the network because it was unused for a while, if the user wants that.
struct Idleness: Hashable, Sendable {
    /// Whether Link should take part.
    private(set) var isActive = true
    /// When to check again; nil while only other events can change anything.
    private(set) var next: HostTime?
    private var wasUsed = true
    private var lastUse: HostTime

    /// Microseconds without use before Link leaves; reloading a page or replugging a cable must not cost the session.
    static let idleTimeout: Int64 = 3_000_000

    /// Counts as used until now.
    init(at now: HostTime) { lastUse = now }

    /// Updates the state; call it after any change, and at ``next``.
    ///
    /// - Parameters:
    ///   - isUsed: whether there is something to drive, or the user wants Link on the network anyway.
    ///   - watched: when somebody last watched the gateway.
    ///   - now: the present time.
    /// - Returns: whether ``isActive`` has changed.
    mutating func hasChanged(isUsed: Bool, lastWatched watched: HostTime, at now: HostTime) -> Bool {
        // The exact end of use is not known, so use counts up to this call.
        if isUsed || wasUsed { lastUse = now }
        wasUsed = isUsed
        let end = max(lastUse, watched).advanced(byMicroseconds: Self.idleTimeout)
        let before = isActive
        isActive = now < end
        next = isUsed || !isActive ? nil : end
        return isActive != before
    }
}
