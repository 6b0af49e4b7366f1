package import MIDIClock

/// Who is followed while Link is off, and which clocks are ignored.
package struct FollowerReport: Hashable, Sendable {
    package let state: State
    /// Name of the clock described here; nil if there is none.
    package let source: String?
    /// Its tempo, and how its ticks come; nil if that is not known.
    package let estimate: ClockEstimate?
    /// What is seen of it, apart from its tempo; nil while it leads as a usual clock does, or there is none.
    package let seen: Seen?
    /// Ignored messages of all clocks since the start.
    package let ignored: IgnoredCounts
    /// The clocks whose last messages were ignored.
    package let ignoredClocks: [IgnoredClock]

    package enum State: Hashable, Sendable {
        /// Link is enabled.
        case disabled
        /// The user wants nobody followed.
        case off
        /// No clock is heard.
        case waiting
        /// Ticks arrive, but the tempo is not yet clear.
        case settling
        /// A clock is followed.
        case locked
        /// The clock that was followed has fallen silent.
        case lost
    }

    /// Why a clock is not a usual one.
    package enum Seen: Hashable, Sendable {
        case arrivesTwice
        /// It does not lead; how its ticks come.
        case ticks(TickPattern)
    }

    package struct IgnoredClock: Hashable, Sendable {
        package let source: ClockSource
        package let name: String
        package let reason: IgnoredClockReason
        package let counts: IgnoredCounts
    }
}

extension Arbiter {
    package var follower: FollowerReport {
        let state = followerState
        let leader = state == .disabled || state == .off ? nil : shownLeader
        return FollowerReport(
            state: state, source: leader.map { name(of: $0.source) },
            estimate: state == .waiting ? nil : leader?.follower.estimate, seen: leader == nil ? nil : seen,
            ignored: tracked.ignored, ignoredClocks: ignoredClocks)
    }

    private var seen: FollowerReport.Seen? {
        guard let follower = shownLeader?.follower, follower.state != .lost else { return nil }
        if follower.arrivesTwice { return .arrivesTwice }
        return following == nil ? .ticks(follower.pattern) : nil
    }

    /// Names of the machines whose clocks arrive twice.
    package var clocksHeardTwice: [String] {
        tracked.all.filter { $0.follower.arrivesTwice && $0.follower.state != .lost }.map { name(of: $0.source) }
    }

    private var followerState: FollowerReport.State {
        guard !isLinkLeading else { return .disabled }
        guard choice != .none else { return .off }
        guard following == nil else { return .locked }
        return switch shownLeader?.follower.state {
        case nil, .waiting: .waiting
        case .settling, .locked: .settling
        case .lost: .lost
        }
    }

    /// The clock that leads, or else the one most likely to lead next.
    private var shownLeader: TrackedSource? {
        if let following { return tracked[following.source] }
        let possible = tracked.all.filter { reasonToIgnore($0.source) == nil }
        return possible.first { $0.follower.state == .locked || $0.follower.state == .settling }
            ?? possible.first { $0.source == lastLeader } ?? possible.first
    }

    private var ignoredClocks: [FollowerReport.IgnoredClock] {
        tracked.all.compactMap { clock in
            clock.ignoredReason.map {
                .init(source: clock.source, name: name(of: clock.source), reason: $0, counts: clock.ignored)
            }
        }
    }
}
