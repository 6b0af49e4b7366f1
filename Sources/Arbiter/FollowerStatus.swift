internal import BeatTime
internal import GatewayStatus
package import MIDIClock

extension Arbiter {
    /// Why the mode is what it is, in a few words.
    package var reason: String {
        switch followerState {
        case .disabled: "Link is enabled"
        case .off: "Link is off, you lead"
        case .waiting: "Link is off and no clock to follow comes in: you lead"
        case .settling: "Link is off and \(shownName) is not steady yet: you lead"
        case .locked: "Link is off, \(shownName) leads"
        case .lost: "Link is off and \(shownName) has fallen silent: its tempo is held, you lead"
        }
    }

    /// The follower as the status shows it.
    var followerStatus: Status.Follower {
        let state = followerState
        let leader = state == .disabled || state == .off ? nil : shownLeader
        let estimate = state == .waiting ? nil : leader?.follower.estimate
        return Status.Follower(
            state: state, source: leader.map { name(of: $0.source) }, tempo: estimate?.beatsPerMinute,
            tempoDoubt: estimate?.tempoDoubt, jitterMicroseconds: estimate?.jitter,
            coarsenessMicroseconds: estimate?.coarseness, seen: leader == nil ? nil : seen,
            refusedTicks: leaders.ignored.ticks, refusedTransport: leaders.ignored.transport, refused: ignoredClocks)
    }

    /// What is seen of the shown clock, as a clause; nil if there is nothing to say.
    private var seen: String? {
        guard let follower = shownLeader?.follower, follower.state != .lost else { return nil }
        if follower.arrivesTwice { return "its clock arrives twice" }
        guard following == nil else { return nil }
        return switch follower.pattern {
        case .few, .steady: nil
        case .tooMany(let perSecond): "it sends \(perSecond) ticks a second, which is no clock"
        case .single(let every): "it sends single ticks, every \(Self.duration(every))"
        case .groups(let every): "its ticks come in groups, every \(Self.duration(every))"
        case .bursts(let every): "its ticks come in bursts, every \(Self.duration(every)), which is no clock"
        case .irregular(let shortest, let longest):
            "its ticks come \(Self.duration(shortest)) to \(Self.duration(longest)) apart"
        }
    }

    /// Microseconds as text for people: `21 ms`, `0.3 ms` or `1.2 s`.
    private static func duration(_ microseconds: Int64) -> String {
        let milliseconds = Double(max(0, microseconds)) / 1_000
        if milliseconds < 2 { return "\((milliseconds * 10).rounded() / 10) ms" }
        return milliseconds < 1_000
            ? "\(roundedToInteger(milliseconds)) ms" : "\((milliseconds / 100).rounded() / 10) s"
    }

    /// Names of the machines whose clocks arrive twice.
    package var clocksHeardTwice: [String] {
        leaders.all.filter { $0.follower.arrivesTwice && $0.follower.state != .lost }.map { name(of: $0.source) }
    }

    /// The machine that leads; nil unless the mode is `follow`.
    package var leader: ClockSource? { following?.source }

    /// Name of the machine that leads, and so excludes the user's tempo; else nil.
    package var leaderName: String? { following.map { name(of: $0.source) } }

    /// Name of the machine that leads the transport too; nil if the user does.
    ///
    /// A clock without Start, Continue and Stop leaves them to the user, and so does one that has sent none of them for
    /// some bars; otherwise nobody could play.
    package var transportLeaderName: String? {
        following.flatMap { leaders[$0.source]?.controlsTransport == true ? name(of: $0.source) : nil }
    }

    /// The name of a clock, or its port's number if it has none.
    func name(of source: ClockSource) -> String { sourceNames[source] ?? source.description }

    private var followerState: Status.FollowerState {
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
    private var shownLeader: ClockLeader? {
        if let following { return leaders[following.source] }
        let possible = leaders.all.filter { reasonToIgnore($0.source) == nil }
        return possible.first { $0.follower.state == .locked || $0.follower.state == .settling }
            ?? possible.first { $0.source == lastLeader } ?? possible.first
    }

    private var shownName: String { shownLeader.map { name(of: $0.source) } ?? "nobody" }

    private var ignoredClocks: [Status.Follower.Refused] {
        leaders.all.compactMap { leader in
            guard let reason = leader.ignoredReason else { return nil }
            return .init(
                port: leader.source.description, name: name(of: leader.source), reason: reason.rawValue,
                ticks: leader.ignored.ticks, transport: leader.ignored.transport)
        }
    }
}
