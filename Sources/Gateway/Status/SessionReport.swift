internal import BeatTime
internal import Essentials
package import GatewayStatus
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
    ///   - now: the present time.
    init(_ report: PeerReport, at now: HostTime) {
        // Whole seconds, because the two clocks are not read at exactly the same moment.
        let since = (millisecondsSince1970() - report.since.microseconds(to: now) / 1_000 + 500) / 1_000 * 1_000
        self.init(
            node: "\(report.node)", session: "\(report.session)", together: report.isOurs,
            address: "\(report.address)",
            interfaces: report.interfaces.map { Interface(name: $0.name, address: "\($0.address)") },
            tempo: report.tempo.beatsPerMinute, since: timestamp(since),
            roundTripMicroseconds: report.roundTrip.map(Double.init), clockErrorMicroseconds: report.clockError,
            // Peers of one computer hear each other by one of its own addresses.
            local: report.interfaces.contains { $0.address == report.address },
            port: report.measurementEndpoint.map { Int($0.port) })
    }
}

extension [SessionPeer] {
    /// These peers, those of this computer with their programs' names as far as the system lets us see them.
    ///
    /// A service may see fewer than its user, so both the gateway and a command ask.
    package func namingPrograms() -> [SessionPeer] {
        func port(of peer: SessionPeer) -> UInt16? {
            peer.local && peer.program == nil ? peer.port.flatMap { UInt16(exactly: $0) } : nil
        }
        let ports = Set(compactMap(port))
        guard !ports.isEmpty else { return self }
        let programs = PortHolders.programs(holding: ports, SystemTree(root: "/"))
        return map { peer in
            var peer = peer
            if let port = port(of: peer) { peer.program = programs[port]?.first?.name }
            return peer
        }
    }
}
