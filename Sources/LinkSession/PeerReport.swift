package import BeatTime

/// A peer as people want to see it.
package struct PeerReport: Hashable, Sendable {
    package var node: NodeID
    package var session: NodeID
    /// Whether it is in our session.
    package var isOurs: Bool
    /// The address its datagrams come from; of several, an IPv4 address, and the one heard first.
    package var address: IPAddress
    /// Where it is heard.
    package var interfaces: [Interface]
    package var tempo: Tempo
    /// When it was first heard.
    package var since: HostTime
    /// Median time of a ping and its answer, in microseconds; nil if it was not measured.
    package var roundTrip: Int64?
    /// Greatest error of the session's clock as measured through this peer, in microseconds; nil for all others.
    package var clockError: Double?
    /// Where its clock can be measured.
    package var measurementEndpoint: Endpoint?

    /// An interface of this machine.
    package struct Interface: Hashable, Sendable {
        package var address: IPAddress
        /// Nil where only the engine is asked.
        package var name: String?
    }
}

extension Engine {
    /// Most peers in a report: strangers can invent as many as the table holds.
    package static let mostPeersReported = 128

    /// The peers heard now, ordered by session, ours first, and node.
    ///
    /// - Parameter now: the present time; peers whose time to live is over are left out.
    /// - Returns: at most ``mostPeersReported``.
    package func peerReports(at now: HostTime) -> [PeerReport] {
        var reports: [PeerReport] = []
        for record in peers.records where record.expiry > now {
            let isOurs = record.announcement.session == session.id
            let sameNode = reports.indices.reversed().prefix { reports[$0].node == record.node }
            let sameSession = sameNode.first { reports[$0].session == record.announcement.session }
            // In two sessions on one interface, it is two peers, of which one is an impostor. On different interfaces, it
            // has just gone from one session to the other, which it announces everywhere within a moment.
            if let index = sameSession ?? sameNode.first(where: { !reports[$0].isHeard(on: record.interface) }) {
                reports[index].add(record, isOurs: isOurs)
            } else {
                reports.append(PeerReport(record, isOurs: isOurs))
            }
        }
        for index in reports.indices where reports[index].isOurs && reports[index].node == measuredThrough?.node {
            reports[index].clockError = measurementErrorMicroseconds(at: now)
        }
        reports.sort { left, right in
            left.isOurs == right.isOurs ? (left.session, left.node) < (right.session, right.node) : left.isOurs
        }
        return Array(reports.prefix(Self.mostPeersReported))
    }
}

extension PeerReport {
    fileprivate init(_ record: PeerRecord, isOurs: Bool) {
        self.init(
            node: record.node, session: record.announcement.session, isOurs: isOurs, address: record.source,
            interfaces: [Interface(address: record.interface)], tempo: record.announcement.timeline.tempo,
            since: record.since, roundTrip: record.roundTrip, clockError: nil,
            measurementEndpoint: record.announcement.measurementEndpoint)
    }

    fileprivate func isHeard(on interface: IPAddress) -> Bool { interfaces.contains { $0.address == interface } }

    /// Adds what was heard on another interface, or from another address.
    fileprivate mutating func add(_ record: PeerRecord, isOurs: Bool) {
        if !isHeard(on: record.interface) { interfaces.append(Interface(address: record.interface)) }
        let isFirst = record.source.isSameFamily(as: address) ? record.since < since : record.source < address
        if isOurs == self.isOurs ? isFirst : isOurs {
            (session, self.isOurs, address) = (record.announcement.session, isOurs, record.source)
            (tempo, measurementEndpoint) = (
                record.announcement.timeline.tempo, record.announcement.measurementEndpoint
            )
        }
        since = min(since, record.since)
        roundTrip = roundTrip ?? record.roundTrip
    }
}
