import BeatTime

/// The last changes of the session, and who made them.
///
/// Link names no author: every peer that adopts a change announces it as well. So the first member whose announcement
/// is heard counts as the author. That is a guess while there are other members, because the author's own announcement
/// may come late, or get lost. It is certain for the only other member if nobody else announces the change within 50 ms.
///
/// Peers that this machine does not hear are never named. Their changes seem to come from the peer that repeats them.
package struct ChangeLog: Hashable, Sendable {
    /// The last 32 changes, in order.
    package private(set) var changes: [SessionChange] = []
    private var count: UInt64 = 0
    /// The newest changes by the only other member, while somebody else may still announce them.
    private var open: [Open] = []

    package static let capacity = 32
    /// Tempo changes of one peer with less than this between them count as one, in microseconds.
    package static let knobPause: Int64 = 1_000_000
    /// How long to wait for somebody else who announces the same change, in microseconds.
    private static let window: Int64 = 50_000

    /// A change, and the announcement that it was read from.
    private struct Open: Hashable, Sendable {
        var change: SessionChange
        let announcement: Announcement

        var deadline: HostTime { change.at.advanced(byMicroseconds: ChangeLog.window) }

        /// Whether another announcement repeats the change.
        func isRepeated(by other: Announcement) -> Bool {
            if case .tempo = change.what { return other.timeline == announcement.timeline }
            return other.startStop == announcement.startStop
        }
    }

    package init() {}

    /// When ``settle(at:)`` has something to do; nil while nothing is open.
    var nextDeadline: HostTime? { open.first?.deadline }

    /// Adds a change; a later one ends the wait for others who announce the earlier.
    ///
    /// - Parameters:
    ///   - change: its number is set here.
    ///   - announcement: what it was read from, if nobody else may announce it; otherwise nil.
    mutating func add(_ change: SessionChange, onlyIn announcement: Announcement? = nil) {
        close { announcement == nil || $0.change.at < change.at }
        if let announcement { open.append(Open(change: change, announcement: announcement)) } else { record(change) }
    }

    /// Notes what a member has announced.
    mutating func heard(_ announcement: Announcement, from node: NodeID) {
        for index in open.indices where open[index].change.origin.node != node {
            if open[index].isRepeated(by: announcement) { open[index].change.isProbable = true }
        }
    }

    /// Takes up the changes that have waited long enough.
    mutating func settle(at now: HostTime) { close { $0.deadline <= now } }

    private mutating func close(while isOver: (Open) -> Bool) {
        let over = open.prefix(while: isOver)
        open.removeFirst(over.count)
        for one in over { record(one.change) }
    }

    private mutating func record(_ change: SessionChange) {
        var change = change
        count += 1
        change.number = count
        if let last = changes.last, change.continues(last) {
            changes.removeLast()
            // While somebody turns a knob, a repeated step may be heard before the step itself.
            if last.isProbable, change.isProbable { change.origin = last.origin }
        }
        changes.append(change)
        if changes.count > Self.capacity { changes.removeFirst() }
    }
}
