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

    /// What the status says of the follower.
    var followerStatus: Status.Follower {
        let state = followerState
        let master = state == .disabled || state == .off ? nil : shownMaster
        let estimate = state == .waiting ? nil : master?.follower.estimate
        return Status.Follower(
            state: state, source: master.map { name(of: $0.source) }, tempo: estimate?.beatsPerMinute,
            jitterMicroseconds: estimate?.jitter, refusedTicks: masters.refused.ticks,
            refusedTransport: masters.refused.transport, refused: refusedClocks)
    }

    /// The machine that leads; nil unless the mode is `follow`.
    package var leader: ClockSource? { following?.source }

    /// The machine that leads, by name, while it excludes the user's tempo; else nil.
    package var leaderName: String? { following.map { name(of: $0.source) } }

    /// The machine that leads the transport, too, by name; nil if the user does.
    ///
    /// A clock without Start, Continue and Stop leaves them to the user, or nobody could play.
    package var transportLeaderName: String? {
        following.flatMap { masters[$0.source]?.conducts == true ? name(of: $0.source) : nil }
    }

    /// The name of a clock, or its port's number where it has none.
    func name(of source: ClockSource) -> String { sourceNames[source] ?? source.description }

    private var followerState: Status.FollowerState {
        guard !isLinkLeading else { return .disabled }
        guard choice != .none else { return .off }
        guard following == nil else { return .locked }
        return switch shownMaster?.follower.state {
        case nil, .waiting: .waiting
        case .settling, .locked: .settling
        case .lost: .lost
        }
    }

    /// The master that leads, or is nearest to leading.
    private var shownMaster: ClockMaster? {
        if let following { return masters[following.source] }
        let possible = masters.all.filter { refusal(of: $0.source) == nil }
        return possible.first { $0.follower.state == .locked || $0.follower.state == .settling }
            ?? possible.first { $0.source == lastMaster } ?? possible.first
    }

    private var shownName: String { shownMaster.map { name(of: $0.source) } ?? "nobody" }

    private var refusedClocks: [Status.Follower.Refused] {
        masters.all.compactMap { master in
            guard let refusal = master.refusal else { return nil }
            return .init(
                port: master.source.description, name: name(of: master.source), reason: refusal.rawValue,
                ticks: master.refused.ticks, transport: master.refused.transport)
        }
    }
}
