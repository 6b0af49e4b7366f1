import BeatTime

/// A peer as heard from one address through one interface.
struct PeerRecord: Hashable, Sendable {
    let node: NodeID
    /// The local address of the interface on which it was heard.
    let interface: IPAddress
    var announcement: Announcement
    /// When its announced time to live ends.
    var expiry: HostTime
    /// The address that announces it; a bye-bye counts only from there.
    let source: IPAddress
    /// When it was heard last.
    let heardAt: HostTime
    /// When it was first heard from that address on this interface.
    private(set) var since: HostTime
    /// Median time of a ping and its answer in the last measurement, in microseconds.
    fileprivate(set) var roundTrip: Int64?
    /// Whether it was announced more than once.
    var isRepeated = false
    /// Whether it has answered a measurement.
    fileprivate(set) var hasAnswered = false
    /// When a measurement of its session through it last began; nil if it was put off.
    fileprivate var askedAt: HostTime?
    /// When a measurement through it last failed.
    fileprivate(set) var failedAt: HostTime?

    var announcer: Announcer { Announcer(node: node, address: source, interface: interface) }

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
        failedAt = earlier.failedAt
        let isSame =
            earlier.announcement.session == announcement.session
            && earlier.announcement.measurementEndpoint == announcement.measurementEndpoint
        askedAt = isSame ? earlier.askedAt : nil
    }

    /// How long what a measurement has shown of a peer is believed, in microseconds.
    private static let memory: Int64 = 30_000_000

    /// Whether its session was lately measured through it, or is being measured.
    func wasAsked(at now: HostTime) -> Bool { askedAt.map { $0.microseconds(to: now) < Self.memory } ?? false }

    /// Whether a measurement through it has lately failed, so that it is asked only if there is no other.
    fileprivate func hasFailed(at now: HostTime) -> Bool {
        failedAt.map { $0.microseconds(to: now) < Self.memory } ?? false
    }

    /// Whether this record sorts before another announcer's.
    fileprivate func precedes(_ other: Announcer) -> Bool {
        guard node == other.node else { return node < other.node }
        return interface == other.interface ? source < other.address : interface < other.interface
    }

    /// Whether its clock can be measured.
    var isMeasurable: Bool {
        guard let endpoint = announcement.measurementEndpoint else { return false }
        return endpoint.port != 0 && endpoint.address.isUnicast && endpoint.address.isSameFamily(as: interface)
    }

    /// Whether this record is removed before the other when room is needed.
    fileprivate func isLessWanted(than other: PeerRecord) -> Bool {
        if hasAnswered != other.hasAnswered { return !hasAnswered }
        return isRepeated == other.isRepeated ? heardAt < other.heardAt : !isRepeated
    }
}

/// All known peers, sorted by node ID, then interface, then source: one record for each address that announces a peer.
///
/// An impostor who announces a real peer's node ID therefore changes nothing in that peer's record.
///
/// When the table is full, a new record replaces another one. Half of the table belongs to our own session and half to
/// all others; whichever has more loses one. It is one of the address with the most records, if that address has more
/// than its share, otherwise any. Records of peers that answered a measurement are kept longest, then those announced
/// more than once, then those heard last. A long time to live does not protect a record.
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
        all(of: node).lazy.filter { $0.announcement.session == session }.map(\.heardAt).max()
    }

    /// Whether a session was lately measured through any peer that this address announces.
    func wasAsked(_ address: IPAddress, about session: NodeID, at now: HostTime) -> Bool {
        records.contains { $0.source == address && $0.announcement.session == session && $0.wasAsked(at: now) }
    }

    /// A peer of a session that was not asked lately, preferably at an address where nobody was.
    func unasked(in session: NodeID, at now: HostTime) -> PeerRecord? {
        let members = records.filter { $0.announcement.session == session && $0.isMeasurable }
        let asked = Set(members.lazy.filter { $0.wasAsked(at: now) }.map(\.source))
        let others = members.lazy.filter { !$0.wasAsked(at: now) }
        return others.first { !asked.contains($0.source) } ?? others.first
    }

    /// The records of a node.
    private func all(of node: NodeID) -> ArraySlice<PeerRecord> {
        records[position(of: Announcer(node: node, address: .v4(0), interface: .v4(0)))...].prefix { $0.node == node }
    }

    /// An announcer's record.
    subscript(_ peer: Announcer) -> PeerRecord? { index(of: peer).map { records[$0] } }

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

    /// The record to measure a session through: its founder's if possible, else the last one used, else the first.
    ///
    /// - Parameters:
    ///   - session: the session.
    ///   - last: where a measurement last succeeded.
    ///   - now: the present time.
    /// - Returns: nil if no member says where to ask.
    func measurable(in session: NodeID, preferring last: Announcer?, at now: HostTime) -> PeerRecord? {
        func rank(_ record: PeerRecord) -> (Int, Int, Int, Int) {
            (
                record.hasFailed(at: now) ? 1 : 0, record.node == session ? 0 : 1, record.announcer == last ? 0 : 1,
                record.interface == last?.interface ? 0 : 1
            )
        }
        return records.lazy.filter { $0.announcement.session == session && $0.isMeasurable }
            .min { rank($0) < rank($1) }
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

    /// Adds a record or replaces the one of the same announcer.
    ///
    /// - Parameters:
    ///   - record: what was just announced.
    ///   - session: the session we are in.
    ///   - busy: the peers that must not be removed to make room; called only if the table is full.
    /// - Returns: the result.
    mutating func insert(_ record: PeerRecord, in session: NodeID, sparing busy: () -> Set<Announcer>) -> Admission {
        if let index = index(of: record.announcer) {
            var successor = record
            successor.succeed(records[index])
            records[index] = successor
            return .admitted
        }
        counts.add(1, to: record.source)
        var removed: PeerRecord?
        if records.count >= Self.capacity {
            guard let victim = leastWanted(for: record, in: session, sparing: busy()) else {
                counts.add(-1, to: record.source)
                return .refused
            }
            removed = records.remove(at: victim)
            if let removed { counts.add(-1, to: removed.source) }
        }
        records.insert(record, at: position(of: record.announcer))
        return removed.map { .inPlaceOf($0) } ?? .admitted
    }

    /// The index of the record to remove for another when the table is full; nil if all peers are busy.
    private func leastWanted(for new: PeerRecord, in session: NodeID, sparing busy: Set<Announcer>) -> Int? {
        func isOwn(_ record: PeerRecord) -> Bool { record.announcement.session == session }
        let own = records.count(where: isOwn) + (isOwn(new) ? 1 : 0)
        let losesOwn = 2 * own > records.count + 1
        let candidates = records.indices.filter { index in
            let record = records[index]
            return isOwn(record) == losesOwn && !(record.askedAt != nil && busy.contains(record.announcer))
        }
        let crowd = greediest.map { greediest in candidates.filter { records[$0].source == greediest } } ?? []
        return (crowd.isEmpty ? candidates : crowd).min { records[$0].isLessWanted(than: records[$1]) }
    }

    /// The address with the most records, if it has more than its share.
    var greediest: IPAddress? { counts.greediest(above: Self.leastShare) }

    /// Notes that a peer has answered a measurement.
    ///
    /// - Parameters:
    ///   - peer: the peer.
    ///   - roundTrip: median time of a ping and its answer, in microseconds; nil if not known.
    mutating func noteAnswer(_ peer: Announcer, roundTrip: Int64? = nil) {
        guard let index = index(of: peer) else { return }
        records[index].hasAnswered = true
        records[index].failedAt = nil
        if let roundTrip { records[index].roundTrip = roundTrip }
    }

    /// Notes when a measurement through a peer began; nil if it was put off.
    mutating func noteAsked(_ peer: Announcer, at time: HostTime?) {
        if let index = index(of: peer) { records[index].askedAt = time }
    }

    /// Notes that a measurement through a peer has failed.
    mutating func noteFailure(_ peer: Announcer, at now: HostTime) {
        if let index = index(of: peer) { records[index].failedAt = now }
    }

    /// Removes an announcer's record; false if there was none.
    mutating func remove(_ peer: Announcer) -> Bool {
        guard let index = index(of: peer) else { return false }
        counts.add(-1, to: records.remove(at: index).source)
        return true
    }

    /// Removes the expired peers of an interface.
    mutating func removeExpired(on interface: IPAddress, at now: HostTime) {
        removeAll { $0.interface == interface && $0.expiry < now }
    }

    mutating func removeAll(on interface: IPAddress) { removeAll { $0.interface == interface } }

    mutating func removeAll(of session: NodeID) { removeAll { $0.announcement.session == session } }

    /// Removes all but the members of some sessions.
    mutating func removeAll(exceptOf sessions: Set<NodeID> = []) {
        removeAll { !sessions.contains($0.announcement.session) }
    }

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

    private func index(of peer: Announcer) -> Int? {
        let index = position(of: peer)
        return index < records.count && records[index].announcer == peer ? index : nil
    }

    /// Where an announcer's record is, or would be inserted.
    private func position(of peer: Announcer) -> Int {
        var (low, high) = (0, records.count)
        while low < high {
            let middle = (low + high) / 2
            if records[middle].precedes(peer) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
