import BeatTime

/// A peer as heard through one interface.
struct PeerRecord: Hashable, Sendable {
    let node: NodeID
    /// The local address of the interface on which it was heard.
    let interface: IPAddress
    var announcement: Announcement
    /// When its announced time to live ends.
    var expiry: HostTime

    /// Whether this record sorts before the given node and interface.
    fileprivate func precedes(_ node: NodeID, _ interface: IPAddress) -> Bool {
        self.node == node ? self.interface < interface : self.node < node
    }

    fileprivate func names(_ node: NodeID, _ interface: IPAddress) -> Bool {
        self.node == node && self.interface == interface
    }
}

/// All known peers, ordered by node ID, then interface; one record for each pair.
struct PeerTable: Sendable {
    private(set) var records: [PeerRecord] = []

    /// Most records, because anyone can pretend to be many; a session of 1000 peers has never been seen.
    static let capacity = 1024

    /// Whether a record of this session already carries the same timeline.
    func holds(_ timeline: GhostTimeline, in session: NodeID) -> Bool {
        records.contains { $0.announcement.session == session && $0.announcement.timeline == timeline }
    }

    /// Whether a record of this session already carries the same start/stop state.
    func holds(_ startStop: StartStopState, in session: NodeID) -> Bool {
        records.contains { $0.announcement.session == session && $0.announcement.startStop == startStop }
    }

    /// The newest start/stop state announced by the members of this session.
    func latestStartStop(in session: NodeID) -> StartStopState? {
        records.lazy.filter { $0.announcement.session == session }.map(\.announcement.startStop)
            .max { $0.timestamp < $1.timestamp }
    }

    /// Whether any record places the peer in this session.
    func holds(_ node: NodeID, in session: NodeID) -> Bool {
        let first = position(of: node, .v4(0))
        return records[first...].prefix { $0.node == node }.contains { $0.announcement.session == session }
    }

    func hasMembers(of session: NodeID) -> Bool { records.contains { $0.announcement.session == session } }

    /// Number of peers in this session, each counted once even if heard on several interfaces.
    func memberCount(of session: NodeID) -> Int {
        var count = 0
        var last: NodeID?
        for record in records where record.announcement.session == session && record.node != last {
            count += 1
            last = record.node
        }
        return count
    }

    /// The record to measure a session through: its founder's if possible, else the first.
    ///
    /// - Parameters:
    ///   - session: the session.
    ///   - interface: where to ask the founder, if it is heard there.
    /// - Returns: nil if no member says where to ask.
    func measurable(in session: NodeID, preferring interface: IPAddress?) -> PeerRecord? {
        let candidates = records.lazy.filter { record in
            guard let endpoint = record.announcement.measurementEndpoint else { return false }
            return record.announcement.session == session && endpoint.port != 0 && endpoint.address.isUnicast
                && endpoint.address.isSameFamily(as: record.interface)
        }
        return candidates.first { $0.node == session && $0.interface == interface }
            ?? candidates.first { $0.node == session } ?? candidates.first
    }

    /// The earliest expiry among the peers heard on an interface.
    func earliestExpiry(on interface: IPAddress) -> HostTime? {
        records.lazy.filter { $0.interface == interface }.map(\.expiry).min()
    }

    /// Adds a record or replaces the one of the same peer and interface; false if the table is full.
    mutating func insert(_ record: PeerRecord) -> Bool {
        let index = position(of: record.node, record.interface)
        if index < records.count, records[index].names(record.node, record.interface) {
            records[index] = record
            return true
        }
        guard records.count < Self.capacity else { return false }
        records.insert(record, at: index)
        return true
    }

    /// Removes a record; false if there was none.
    mutating func remove(_ node: NodeID, on interface: IPAddress) -> Bool {
        let index = position(of: node, interface)
        guard index < records.count, records[index].names(node, interface) else { return false }
        records.remove(at: index)
        return true
    }

    /// Removes the expired peers of an interface.
    mutating func removeExpired(on interface: IPAddress, at now: HostTime) {
        records.removeAll { $0.interface == interface && $0.expiry < now }
    }

    mutating func removeAll(on interface: IPAddress) { records.removeAll { $0.interface == interface } }

    mutating func removeAll(of session: NodeID) { records.removeAll { $0.announcement.session == session } }

    mutating func removeAll() { records.removeAll() }

    /// Records a timeline as if all members of a session had announced it.
    ///
    /// A member that still announces another one then counts as new, and is compared again.
    mutating func overwriteTimelines(of session: NodeID, with timeline: GhostTimeline) {
        for index in records.indices where records[index].announcement.session == session {
            records[index].announcement.timeline = timeline
        }
    }

    /// Where a record is, or would be inserted.
    private func position(of node: NodeID, _ interface: IPAddress) -> Int {
        var (low, high) = (0, records.count)
        while low < high {
            let middle = (low + high) / 2
            if records[middle].precedes(node, interface) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
