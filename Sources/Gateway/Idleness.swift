internal import Arbiter
internal import LinkNetwork
internal import Logging
internal import MIDIClock
internal import RealTime
internal import Synchronization

/// When Link leaves the network for a user who wants that: once there has been no use for it for a while.
struct Idleness {
    /// Whether Link is to take part.
    private(set) var isActive = true
    /// When to look again; nil as long as only news can change anything.
    private(set) var next: MonotonicTime?
    private var wasUsed = true
    private var lastUse: MonotonicTime

    /// Nanoseconds without use until Link leaves: a page loaded again or a plug put back must not cost the session.
    static let patience: Int64 = 3_000_000_000

    /// Idle from now on, if nothing is told otherwise.
    init(at now: MonotonicTime) { lastUse = now }

    /// Keeps time: whenever something may have happened, and at ``next``.
    ///
    /// - Parameters:
    ///   - isUsed: whether there is something to drive, or the user wants Link on the network in any case.
    ///   - look: when somebody last watched the gateway.
    ///   - now: the present time.
    /// - Returns: whether ``isActive`` has changed.
    mutating func hasChanged(isUsed: Bool, lastLook look: MonotonicTime, at now: MonotonicTime) -> Bool {
        // Nobody said when in the meantime it ceased to be used.
        if isUsed || wasUsed { lastUse = now }
        wasUsed = isUsed
        let end = max(lastUse, look).advanced(byNanoseconds: Self.patience)
        let before = isActive
        isActive = now < end
        next = isUsed || !isActive ? nil : end
        return isActive != before
    }
}

extension GatewayCore {
    /// Has Link leave the network when there is no use for it, and come back; the gateway thread only.
    func tendLink() {
        let isWanted = picture.withLock { !$0.wishes.deactivatesWhenIdle || $0.link.isStartStopSyncEnabled }
        let isUsed =
            isWanted || arbiter.transport.isPlaying || isAboutToPlay
            || rack.outputs.contains { $0.isEnabled && $0.connectedTo != nil }
        guard idleness.hasChanged(isUsed: isUsed, lastLook: lastLook, at: .now()) else { return }
        peer.setActive(idleness.isActive)
        log.notice(idleness.isActive ? "Link has a use again" : "Link has nothing to drive and leaves the network")
    }

    private var lastLook: MonotonicTime { MonotonicTime(nanoseconds: looks.load(ordering: .relaxed)) }

    /// Takes note that somebody watches; any thread.
    func watched() {
        let now = MonotonicTime.now().nanoseconds
        let before = looks.exchange(now, ordering: .relaxed)
        // Link may have left since.
        if now - before > Idleness.patience / 2 { mailbox.wake() }
    }
}
