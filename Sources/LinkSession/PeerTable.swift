import BeatTime

/// A peer as heard through one interface.
struct PeerRecord: Hashable, Sendable {
    let node: NodeID
    /// The local address of the interface on which it was heard.
    let interface: IPAddress
    var announcement: Announcement
    /// When its announced time to live ends.
    var expiry: HostTime
    /// The address that announces it; a bye-bye counts only from there.
    var source: IPAddress
    /// When that address announced it last.
    var heardAt: HostTime
    /// When it was first heard on this interface.
    private(set) var since: HostTime
    /// Median time of a ping and its answer in the last measurement, in microseconds.
    fileprivate(set) var roundTrip: Int64?
    /// Whether it was announced more than once.
    var isRepeated = false
    /// Whether it has answered a measurement.
    var hasAnswered = false

    var announcer: Announcer { Announcer(node: node, address: source, interface: interface) }

    /// How long its address must be silent before another's announcements count as the peer's own, in microseconds.
    private static let silence: Int64 = 5_000_000

    init(
        node: NodeID, interface: IPAddress, announcement: Announcement, expiry: HostTime, source: IPAddress,
        at now: HostTime
    ) {
        self.node = node
        self.interface = interface
        self.announcement = announcement
        self.expiry = expiry
        self.source = source
        (heardAt, since) = (now, now)
    }

    /// Copies what an earlier record of the same peer knows.
    fileprivate mutating func succeed(_ earlier: PeerRecord) {
        isRepeated = true
        (hasAnswered, roundTrip, since) = (earlier.hasAnswered, earlier.roundTrip, earlier.since)
        // Otherwise anyone could announce a peer from another address and then send its bye-bye.
        if source != earlier.source, earlier.heardAt.microseconds(to: heardAt) < Self.silence {
            (source, heardAt) = (earlier.source, earlier.heardAt)
        }
    }

    /// Whether this record sorts before the given node and interface.
    fileprivate func precedes(_ node: NodeID, _ interface: IPAddress) -> Bool {
        self.node == node ? self.interface < interface : self.node < node
    }

    /// Whether this record is removed before the other when room is needed.
    fileprivate func isLessWanted(than other: PeerRecord) -> Bool {
        if hasAnswered != other.hasAnswered { return !hasAnswered }
        return isRepeated == other.isRepeated ? heardAt < other.heardAt : !isRepeated
    }

    fileprivate func names(_ node: NodeID, _ interface: IPAddress) -> Bool {
        self.node == node && self.interface == interface
    }
}

/// All known peers, sorted by node ID, then interface; one record for each pair.
///
/// When the table is full, a new record replaces another one: one of the address with the most records, if that address
/// has more than its share, otherwise any. Records of peers that answered a measurement are kept longest, then those
/// announced more than once, then those heard last. A long time to live does not protect a record.
struct PeerTable: Sendable {
    private(set) var records: [PeerRecord] = []
    /// How many records each address has.
    private var counts = AddressCounts()

    /// Most records.
    ///
    /// There is a limit because one sender can pretend to be many peers; real sessions are far smaller.
    static let capacity = 1024
    /// Number of records that an address may always have, since several real peers may share one.
    private static let leastShare = 32

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

    /// When a peer last announced this session; nil if no record places it there.
    func lastHeard(_ node: NodeID, in session: NodeID) -> HostTime? {
        let first = position(of: node, .v4(0))
        return records[first...].lazy.prefix { $0.node == node }.filter { $0.announcement.session == session }
            .map(\.heardAt).max()
    }

    /// Whether a peer is the only member of a session, and announced by the address under which it is listed.
    func isOnlyMember(_ announcer: Announcer, of session: NodeID) -> Bool {
        records.allSatisfy { record in
            record.announcement.session != session
                || record.node == announcer.node
                    && (record.interface != announcer.interface || record.source == announcer.address)
        }
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

    /// The result of inserting a record.
    enum Admission {
        case admitted
        /// The table was full, and this other record was removed.
        case inPlaceOf(PeerRecord)
        /// The table was full, and no record could be removed.
        case refused
    }

    /// Adds a record or replaces the one of the same peer and interface.
    ///
    /// - Parameters:
    ///   - record: what was just announced.
    ///   - busy: the peers that must not be removed to make room; called only if the table is full.
    /// - Returns: the result.
    mutating func insert(_ record: PeerRecord, sparing busy: () -> Set<NodeID>) -> Admission {
        var index = position(of: record.node, record.interface)
        if index < records.count, records[index].names(record.node, record.interface) {
            var successor = record
            successor.succeed(records[index])
            counts.add(-1, to: records[index].source)
            counts.add(1, to: successor.source)
            records[index] = successor
            return .admitted
        }
        counts.add(1, to: record.source)
        var removed: PeerRecord?
        if records.count >= Self.capacity {
            guard let victim = leastWanted(sparing: busy()) else {
                counts.add(-1, to: record.source)
                return .refused
            }
            removed = records.remove(at: victim)
            if let removed { counts.add(-1, to: removed.source) }
            index = position(of: record.node, record.interface)
        }
        records.insert(record, at: index)
        return removed.map { .inPlaceOf($0) } ?? .admitted
    }

    /// The index of the record to remove when the table is full; nil if all peers are busy.
    private func leastWanted(sparing busy: Set<NodeID>) -> Int? {
        let candidates = records.indices.filter { !busy.contains(records[$0].node) }
        let crowd = greediest.map { greediest in candidates.filter { records[$0].source == greediest } } ?? []
        return (crowd.isEmpty ? candidates : crowd).min { records[$0].isLessWanted(than: records[$1]) }
    }

    /// The address with the most records, if it has more than its share.
    var greediest: IPAddress? { counts.greediest(above: Self.leastShare) }

    /// Notes that a peer has answered a measurement.
    ///
    /// - Parameters:
    ///   - node: the peer.
    ///   - interface: where it was asked.
    ///   - roundTrip: median time of a ping and its answer, in microseconds; nil if not known.
    mutating func noteAnswer(_ node: NodeID, on interface: IPAddress, roundTrip: Int64? = nil) {
        let index = position(of: node, interface)
        guard index < records.count, records[index].names(node, interface) else { return }
        records[index].hasAnswered = true
        if let roundTrip { records[index].roundTrip = roundTrip }
    }

    /// Removes a record; false if there was none that this address announced.
    mutating func remove(_ node: NodeID, on interface: IPAddress, announcedBy source: IPAddress) -> Bool {
        let index = position(of: node, interface)
        guard index < records.count, records[index].names(node, interface), records[index].source == source else {
            return false
        }
        counts.add(-1, to: records.remove(at: index).source)
        return true
    }

    /// Removes the expired peers of an interface.
    mutating func removeExpired(on interface: IPAddress, at now: HostTime) {
        removeAll { $0.interface == interface && $0.expiry < now }
    }

    mutating func removeAll(on interface: IPAddress) { removeAll { $0.interface == interface } }

    mutating func removeAll(of session: NodeID) { removeAll { $0.announcement.session == session } }

    mutating func removeAll() { self = PeerTable() }

    private mutating func removeAll(where isToGo: (PeerRecord) -> Bool) {
        for record in records where isToGo(record) { counts.add(-1, to: record.source) }
        records.removeAll(where: isToGo)
    }

    /// The sessions that somebody announces.
    var sessions: Set<NodeID> { Set(records.lazy.map(\.announcement.session)) }

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
