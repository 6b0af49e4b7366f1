internal import BeatTime
internal import Essentials
internal import GatewayStatus
internal import LinkNetwork
internal import LinkSession
internal import RealTime

// Who is in the session, and who changed it.

extension Status.Change {
    init(_ dated: DatedChange) {
        let change = dated.change
        var (value, previous, joined): (Double?, Double?, NodeID?) = (nil, nil, nil)
        let what: What
        switch change.what {
        case .tempo(let tempo): (what, value) = (.tempo, tempo.beatsPerMinute)
        case .play: what = .play
        case .stop: what = .stop
        case .joined(let session, let from, let to):
            (what, joined, previous, value) = (.joined, session, from.beatsPerMinute, to.beatsPerMinute)
        }
        var announcer: Announcer?
        let origin: Origin
        switch change.origin {
        case .here: origin = .here
        case .peer(let peer): (origin, announcer) = (.peer, peer)
        case .unknown: origin = .unknown
        }
        self.init(
            number: Int(clamping: change.number), what: what, value: value, previous: previous,
            session: joined.map { "\($0)" }, origin: origin, address: announcer.map { "\($0.address)" },
            node: announcer.map { "\($0.node)" }, at: timestamp(dated.millisecondsSince1970),
            probable: change.isProbable, followed: change.isFollowed)
    }
}

extension SessionPeer {
    /// - Parameters:
    ///   - report: what the Link peer knows.
    ///   - programs: the programs that use UDP ports of this computer.
    ///   - now: the present time.
    init(_ report: PeerReport, programs: [UInt16: [RunningProgram]], at now: HostTime) {
        let isLocal = report.isLocal
        let port = report.measurementEndpoint?.port
        // Whole seconds, because the two clocks are not read at exactly the same moment.
        let since = (millisecondsSince1970() - report.since.microseconds(to: now) / 1_000 + 500) / 1_000 * 1_000
        self.init(
            node: "\(report.node)", session: "\(report.session)", together: report.isOurs,
            address: "\(report.address)",
            interfaces: report.interfaces.map { Interface(name: $0.name, address: "\($0.address)") },
            tempo: report.tempo.beatsPerMinute, since: timestamp(since),
            roundTripMicroseconds: report.roundTrip.map(Double.init), clockErrorMicroseconds: report.clockError,
            local: isLocal, port: port.map(Int.init),
            program: isLocal ? port.flatMap { programs[$0]?.first?.name } : nil)
    }
}

extension PeerReport {
    /// Whether it runs on this computer: peers of one computer hear each other by one of its own addresses.
    var isLocal: Bool { interfaces.contains { $0.address == address } }
}
