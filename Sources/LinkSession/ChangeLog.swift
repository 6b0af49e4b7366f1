import BeatTime

/// The last changes of the session, and who made them.
///
/// Link names no author: every peer that adopts a change announces it as well. So the first member whose announcement
/// is heard counts as the author. That is a guess while there are other members, because the author's own announcement
/// may come late, or get lost. It is certain for the only other member if nobody else announces the change within 50 ms.
/// A member that still announced the old state after the change was made is not its author if another one announces it.
///
/// Peers that this machine does not hear are never named. Their changes seem to come from the peer that repeats them.
package struct ChangeLog: Hashable, Sendable {
    /// The last 32 changes, in order.
    package private(set) var changes: [SessionChange] = []
    private var count: UInt64 = 0
    /// The newest changes of which another announcement may still tell more about the author.
    private var open: [Open] = []

    package static let capacity = 32
    /// Tempo changes of one peer with less than this between them count as one, in microseconds.
    package static let knobPause: Int64 = 1_000_000
    /// How long to wait for somebody else who announces the same change, in microseconds.
    private static let window: Int64 = 50_000
    /// How long to wait for the author after a relay was heard first, in microseconds.
    ///
    /// A peer that others keep asking answers them and announces late.
    private static let longestSilence: Int64 = 300_000

    /// How long after a change the old state must be heard to rule its sender out as author, in microseconds.
    ///
    /// What is heard sooner may have been sent before the change.
    private static let slack: Int64 = 8_000

    /// A member's announcement of a change.
    struct Evidence: Hashable, Sendable {
        var announcement: Announcement
        var announcer: Announcer
        /// When the announcement before this one was heard; nil if there was none.
        var lastHeard: HostTime?

        /// Whether its peer still announced the old state after the change was made.
        fileprivate func isOfRelay(madeAt: HostTime) -> Bool {
            lastHeard.map { madeAt.microseconds(to: $0) > ChangeLog.slack } ?? false
        }
    }

    /// A change, and the announcement that it was read from.
    private struct Open: Hashable, Sendable {
        var change: SessionChange
        let announcement: Announcement
        let madeAt: HostTime
        /// Whether the peer named as author is known only to repeat the change.
        var isOfRelay: Bool

        var deadline: HostTime {
            change.at.advanced(byMicroseconds: isOfRelay ? ChangeLog.longestSilence : ChangeLog.window)
        }

        /// Whether another announcement repeats the change.
        func isRepeated(by other: Announcement) -> Bool {
            if case .tempo = change.what { return other.timeline == announcement.timeline }
            return other.startStop == announcement.startStop
        }
    }

    package init() {}

    /// When ``settle(at:)`` has something to do; nil while nothing is open.
    ///
    /// Changes are recorded in order, so the first one decides.
    var nextDeadline: HostTime? { open.first?.deadline }

    /// Adds a change that was made here, or a join; nothing waits for more about earlier changes.
    mutating func add(_ change: SessionChange) {
        close { _ in true }
        record(change)
    }

    /// Adds a change that a member has announced; it ends the wait for more about earlier ones.
    ///
    /// - Parameters:
    ///   - change: its number is set here.
    ///   - evidence: what it was read from.
    ///   - madeAt: when it was made, by what was announced.
    mutating func add(_ change: SessionChange, by evidence: Evidence, madeAt: HostTime) {
        close { $0.change.at < change.at }
        let isOfRelay = evidence.isOfRelay(madeAt: madeAt)
        // What is still open was announced together with this change, and is recorded before it.
        if change.isProbable, !isOfRelay, open.isEmpty { return record(change) }
        var change = change
        change.isProbable = change.isProbable || isOfRelay
        open.append(
            Open(change: change, announcement: evidence.announcement, madeAt: madeAt, isOfRelay: isOfRelay))
    }

    /// Notes what a member has announced, which may repeat a change.
    mutating func heard(_ evidence: Evidence) {
        for index in open.indices where open[index].change.origin.node != evidence.announcer.node {
            guard open[index].isRepeated(by: evidence.announcement) else { continue }
            open[index].change.isProbable = true
            // Who has just come has the change from somebody, too.
            guard open[index].isOfRelay, evidence.lastHeard != nil, !evidence.isOfRelay(madeAt: open[index].madeAt)
            else { continue }
            open[index].change.origin = .peer(evidence.announcer)
            open[index].isOfRelay = false
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
