internal import Arbiter
internal import BeatTime
internal import GatewayStatus
internal import MIDIClock

extension FollowerReport {
    /// Why the leader is who it is, in a few words.
    var reason: String {
        let name = source ?? "nobody"
        return switch state {
        case .disabled: "Link is enabled"
        case .off: "Link is off, you lead"
        case .waiting: "Link is off and no clock to follow comes in: you lead"
        case .settling: "Link is off and \(name) is not steady yet: you lead"
        case .locked: "Link is off, \(name) leads"
        case .lost: "Link is off and \(name) has fallen silent: its tempo is held, you lead"
        }
    }
}

extension FollowerReport.Seen {
    /// As a clause; nil if there is nothing to say.
    var text: String? {
        switch self {
        case .arrivesTwice: "its clock arrives twice"
        case .ticks(.few), .ticks(.steady): nil
        case .ticks(.tooMany(let perSecond)): "it sends \(perSecond) ticks a second, which is no clock"
        case .ticks(.single(let every)): "it sends single ticks, every \(Self.duration(every))"
        case .ticks(.groups(let every)): "its ticks come in groups, every \(Self.duration(every))"
        case .ticks(.bursts(let every)): "its ticks come in bursts, every \(Self.duration(every)), which is no clock"
        case .ticks(.irregular(let shortest, let longest)):
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
}

extension Status.Follower {
    /// - Parameters:
    ///   - report: what the arbiter knows.
    ///   - choice: whose clock the user wants followed.
    init(_ report: FollowerReport, choice: FollowChoice) {
        self.init(
            state: Status.FollowerState(report.state), choice: choice.text, source: report.source,
            tempo: report.estimate?.beatsPerMinute, tempoDoubt: report.estimate?.tempoDoubt,
            jitterMicroseconds: report.estimate?.jitter, coarsenessMicroseconds: report.estimate?.coarseness,
            seen: report.seen?.text, refusedTicks: report.ignored.ticks, refusedTransport: report.ignored.transport,
            refused: report.ignoredClocks.map {
                .init(
                    port: $0.source.description, name: $0.name, reason: $0.reason.rawValue, ticks: $0.counts.ticks,
                    transport: $0.counts.transport)
            })
    }
}

extension Status.FollowerState {
    fileprivate init(_ state: FollowerReport.State) {
        self =
            switch state {
            case .disabled: .disabled
            case .off: .off
            case .waiting: .waiting
            case .settling: .settling
            case .locked: .locked
            case .lost: .lost
            }
    }
}

extension Mode {
    init(_ mode: Arbiter.Mode) {
        self =
            switch mode {
            case .link: .link
            case .follow: .follow
            case .internal: .internal
            }
    }
}
