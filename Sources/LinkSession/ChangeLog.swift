import BeatTime

/// The last changes of the session, and the search for the peer that made the newest.
///
/// Link names no author: every peer that adopts a change announces it, too. Three facts tell the author from those who
/// only pass it on. Each change carries the time at which it was made. A peer that still announced the old state after
/// that time did not make it. And a peer that adopts a change after an unheard, direct answer from the author has asked
/// for that answer by announcing the old state, which we hear. What cannot be decided is marked as probable.
///
/// Peers that this machine does not hear are never named. Their changes seem to come from the peer that passes them on.
package struct ChangeLog: Hashable, Sendable {
    /// The last 32 changes, in order.
    package private(set) var changes: [SessionChange] = []
    private var count: UInt64 = 0
    /// The newest tempo and the newest play or stop, while their author is searched for.
    private var unsettled: [Search] = []

    package static let capacity = 32
    /// Tempo changes of one peer with less than this between them count as one, in microseconds.
    static let knobPause: Int64 = 1_000_000

    package init() {}

    /// When ``settle(at:)`` has something to do; nil while nothing is open.
    var nextDeadline: HostTime? { unsettled.lazy.map(\.deadline).min() }

    /// Records a change whose origin is known.
    mutating func add(_ change: SessionChange) {
        var change = change
        count += 1
        change.number = count
        if let last = changes.last, change.continues(last) { changes.removeLast() }
        changes.append(change)
        if changes.count > Self.capacity { changes.removeFirst() }
    }

    /// Starts to search for the author of a change just adopted from a peer.
    mutating func adopted(_ search: Search, at now: HostTime) {
        supersede(search.subject, at: now)
        unsettled.append(search)
        settle(at: now)
    }

    /// Ends the search for the change that another one of the same kind has replaced.
    mutating func supersede(_ subject: Search.Subject, at now: HostTime) {
        end(at: now) { $0.subject.isSameKind(as: subject) }
    }

    /// Ends all searches with what is known.
    mutating func endAll(at now: HostTime) { end(at: now) { _ in true } }

    /// Notes what a member has announced.
    ///
    /// - Parameters:
    ///   - announcement: its state.
    ///   - telling: who, and when it was heard last.
    ///   - now: the present time.
    mutating func heard(_ announcement: Announcement, from telling: Telling, at now: HostTime) {
        guard !unsettled.isEmpty else { return }
        for index in unsettled.indices { unsettled[index].heard(announcement, from: telling, at: now) }
        settle(at: now)
    }

    /// Ends the searches that are decided or have waited long enough.
    mutating func settle(at now: HostTime) {
        end(at: now) { $0.isDecided || $0.deadline <= now }
    }

    private mutating func end(at now: HostTime, where isOver: (Search) -> Bool) {
        for index in unsettled.indices.reversed() where isOver(unsettled[index]) {
            add(unsettled.remove(at: index).verdict)
        }
    }
}

/// One announcement by a member.
package struct Telling: Hashable, Sendable {
    var teller: Teller
    /// Whether it was sent to everyone, not as an answer.
    var isToAll: Bool
    /// When the same peer was heard before; nil if it was not.
    var heardBefore: HostTime?
}

/// The search for the author of one change.
package struct Search: Hashable, Sendable {
    let subject: Subject
    let what: SessionChange.What
    private let isFollowed: Bool
    private let at: HostTime
    private let madeAt: HostTime?
    /// How late an announcement may arrive, and how wrong `madeAt` may be, in microseconds.
    private let slack: Int64
    /// Least time between two announcements that shows their order, in microseconds.
    private let margin: Int64
    private var members: [NodeID: Member] = [:]
    /// Those who announced the change, in order.
    private var tellers: [NodeID] = []

    /// How long to wait for others who announce the change, in microseconds.
    ///
    /// Whoever passes it on announces it to all within 50 ms, or a little later while it answers others. Whoever made
    /// it has announced it at once, and does so again only after 250 ms.
    private static let patience: Int64 = 150_000
    /// How long to wait if all who announced it only passed it on, in microseconds.
    private static let longestPatience: Int64 = 300_000
    /// Slack and margin on a network without delay, in microseconds.
    private static let leastSlack: Int64 = 10_000
    private static let leastMargin: Int64 = 5_000
    /// Shortest time from any message of a peer to its next announcement to all, in microseconds.
    private static let rateLimit: Int64 = 50_000
    /// How old a change may be when it is heard, in microseconds.
    private static let oldest: Int64 = 1_000_000

    /// The state that was adopted.
    enum Subject: Hashable, Sendable {
        case timeline(GhostTimeline)
        case startStop(StartStopState)

        func isSameKind(as other: Subject) -> Bool {
            switch (self, other) {
            case (.timeline, .timeline), (.startStop, .startStop): true
            case (.timeline, .startStop), (.startStop, .timeline): false
            }
        }

        /// Whether an announcement holds this state, an older one, or something else.
        func age(of announcement: Announcement) -> Age {
            switch self {
            case .timeline(let timeline):
                if announcement.timeline == timeline { return .same }
                return announcement.timeline.beatOrigin < timeline.beatOrigin ? .older : .other
            case .startStop(let state):
                if announcement.startStop == state { return .same }
                return announcement.startStop.timestamp < state.timestamp ? .older : .other
            }
        }

        enum Age { case same, older, other }
    }

    /// What is known of a member.
    private struct Member: Hashable, Sendable {
        var teller: Teller
        /// When it last announced the old state.
        var oldHeardAt: HostTime?
        /// When it first announced the change.
        var toldAt: HostTime?
        /// When it first announced the change to everyone.
        var toldAllAt: HostTime?
    }

    /// Starts with the first peer that announced the change.
    ///
    /// - Parameters:
    ///   - subject: the adopted state.
    ///   - what: the change, for people.
    ///   - isFollowed: whether this machine follows it.
    ///   - telling: who announced it.
    ///   - members: all members of the session, with the times at which they were last heard.
    ///   - madeAt: when the change was made, by the session's clock; not used if it cannot be true.
    ///   - delay: how long datagrams take on this network, in microseconds.
    ///   - now: when it was heard.
    init(
        _ subject: Subject, _ what: SessionChange.What, isFollowed: Bool, by telling: Telling,
        members: [Telling], madeAt: HostTime?, delay: Int64, at now: HostTime
    ) {
        (self.subject, self.what, self.isFollowed, at) = (subject, what, isFollowed, now)
        let slack = Self.leastSlack + delay
        (self.slack, margin) = (slack, Self.leastMargin + delay)
        self.madeAt = madeAt.flatMap { time in
            let age = time.microseconds(to: now)
            return age >= -slack && age < Self.oldest ? time : nil
        }
        for member in members {
            self.members[member.teller.node] = Member(teller: member.teller, oldHeardAt: member.heardBefore)
        }
        note(telling, at: now)
    }

    private mutating func note(_ telling: Telling, at now: HostTime) {
        let node = telling.teller.node
        // The address under which it is listed, even if it was heard first on another interface.
        let teller = members[node]?.teller ?? telling.teller
        var member = Member(teller: teller, oldHeardAt: telling.heardBefore)
        (member.toldAt, member.toldAllAt) = (now, telling.isToAll ? now : nil)
        members[node] = member
        tellers.append(node)
    }

    mutating func heard(_ announcement: Announcement, from telling: Telling, at now: HostTime) {
        let node = telling.teller.node
        switch subject.age(of: announcement) {
        case .same:
            if !tellers.contains(node) {
                note(telling, at: now)
            } else if telling.isToAll, members[node]?.toldAllAt == nil {
                members[node]?.toldAllAt = now
            }
        case .older:
            if members[node]?.toldAt == nil { members[node]?.oldHeardAt = now }
        case .other: break
        }
    }

    /// Whether a member announced the old state after the change was made.
    private func isCleared(_ member: Member) -> Bool {
        guard let madeAt, let oldHeardAt = member.oldHeardAt else { return false }
        return madeAt.microseconds(to: oldHeardAt) > slack
    }

    private var suspects: [Member] { members.values.filter { !isCleared($0) } }

    /// Whether the author is certain, so that waiting longer changes nothing.
    var isDecided: Bool { !verdict.isProbable }

    var deadline: HostTime {
        let hasSuspect = tellers.contains { node in members[node].map { !isCleared($0) } ?? false }
        return at.advanced(byMicroseconds: hasSuspect ? Self.patience : Self.longestPatience)
    }

    /// The change with its author, as far as known.
    var verdict: SessionChange {
        let suspects = suspects
        let first = tellers.lazy.compactMap { members[$0] }.first { !isCleared($0) }
        // Nobody is left: the author is not heard here, or the clocks are wrong.
        let author = first ?? (suspects.count == 1 ? suspects[0] : nil)
        // One that tells after others may have it from them.
        let isAlone = suspects.count == 1
        let isCertain =
            first.map { first in
                isAlone
                    || first.teller.node == tellers.first
                        && suspects.allSatisfy { $0.teller.node == first.teller.node || isLater($0, than: first) }
            } ?? false
        return SessionChange(
            what: what, origin: author.map { .peer($0.teller) } ?? .unknown, isProbable: !isCertain,
            isFollowed: isFollowed, at: at, madeAt: madeAt)
    }

    /// Whether another one's announcement shows that it had not made the change when the first one announced it.
    ///
    /// If the other had made it, it would have announced it to all before, or the first one would know it from an
    /// answer. It gets an answer only after announcing the old state to all, which would have cleared it. If the other's
    /// announcement got lost on the way here, then the first one has answered it, and so kept quiet for 50 ms.
    ///
    /// None of this holds for two programs of another machine, which also hear each other where we do not.
    private func isLater(_ other: Member, than first: Member) -> Bool {
        guard let madeAt, let oldHeardAt = first.oldHeardAt, oldHeardAt.microseconds(to: madeAt) > slack,
            let firstTold = first.toldAllAt, let otherTold = other.toldAllAt,
            madeAt.microseconds(to: firstTold) < Self.rateLimit - margin
        else { return false }
        let (address, lead) = (first.teller.address, firstTold.microseconds(to: otherTold))
        let areNeighbors = address == other.teller.address && address != first.teller.interface
        return !areNeighbors && lead > margin && lead <= Self.patience
    }
}
