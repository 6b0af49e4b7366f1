import BeatTime

/// A local address on which this peer announces itself and hears others.
struct LinkInterface: Sendable {
    let address: IPAddress
    var measurementEndpoint: Endpoint
    /// When our state was last sent, to all or in response.
    var lastSend: HostTime?
    /// When our state was last sent to all.
    var lastAlive: HostTime?
    /// When to send the next announcement.
    var broadcastAt: HostTime
    /// When to look for expired peers.
    var pruneAt: HostTime?

    init(address: IPAddress, measurementEndpoint: Endpoint) {
        self.address = address
        self.measurementEndpoint = measurementEndpoint
        broadcastAt = HostTime(microseconds: .max)
    }
}

extension Announcement {
    /// How far ahead of the session's clock a start or stop may be stamped without being noted, in microseconds.
    ///
    /// Right ones are not ahead at all.
    private static let oddLead: Int64 = 60_000_000

    /// Whether a program can have come to some number only on purpose.
    fileprivate func isExtreme(at present: GhostTime) -> Bool {
        func isFar(_ time: GhostTime) -> Bool { time.microseconds(to: present).magnitude > HostTimeline.furthestOrigin }
        return !isCountable(timeline.beatOrigin) || isFar(timeline.timeOrigin) || !isCountable(startStop.beats)
            || present.microseconds(to: startStop.timestamp) > Self.oddLead
            || startStop != .initial && isFar(startStop.timestamp)
    }
}

// Presence: finding peers and announcing ourselves.
extension Engine {
    /// Seconds for which others count us as present without another message.
    private static let timeToLive: UInt8 = 5
    private static let nominalPeriod: Int64 = 250_000
    private static let shortestPeriodMilliseconds: Int64 = 50
    /// Longest time between announcements to all, in microseconds, however many responses are sent.
    private static let longestSilence: Int64 = 1_000_000
    private static let prunePadding: Int64 = 1_000_000
    /// How long a crowd is reported after it last displaced something, in microseconds.
    private static let crowdMemory: Int64 = 30_000_000

    /// Announces the newest state after the present event, as soon as the rate limit allows.
    mutating func pushState() { isStateNew = true }

    /// What to send after the present event.
    mutating func takeOutbox(at now: HostTime) -> [Datagram] {
        if isStateNew {
            isStateNew = false
            for index in interfaces.indices { broadcast(onInterfaceAt: index, at: now) }
        }
        defer { outbox.removeAll() }
        return outbox
    }

    /// Announces now, or 50 ms after state was last sent, and then every 250 ms; nothing while we only listen.
    mutating func broadcast(onInterfaceAt index: Int, at now: HostTime) {
        guard listensUntil == nil else { return interfaces[index].broadcastAt = HostTime(microseconds: .max) }
        if let lastSend = interfaces[index].lastSend, let lastAlive = interfaces[index].lastAlive {
            let wait = Self.shortestPeriodMilliseconds - lastSend.microseconds(to: now) / 1000
            if wait > 0, lastAlive.microseconds(to: now) < Self.longestSilence {
                interfaces[index].broadcastAt = now.advanced(byMicroseconds: wait * 1000)
                return
            }
        }
        interfaces[index].broadcastAt = now.advanced(byMicroseconds: Self.nominalPeriod)
        interfaces[index].lastSend = now
        interfaces[index].lastAlive = now
        send(.alive, to: .group, on: interfaces[index])
    }

    mutating func sayByeBye(on interface: LinkInterface) {
        let header = DiscoveryHeader(kind: .byeBye, timeToLive: 0, sender: nodeID)
        let datagram = Datagram(
            interface: interface.address, channel: .discovery, destination: .group, bytes: header.encoded(with: nil))
        outbox.append(datagram)
    }

    private mutating func send(
        _ kind: DiscoveryHeader.Kind, to destination: Datagram.Destination, on interface: LinkInterface
    ) {
        let header = DiscoveryHeader(kind: kind, timeToLive: Self.timeToLive, sender: nodeID)
        let announcement = Announcement(
            session: session.id, timeline: session.timeline, startStop: startStop,
            measurementEndpoint: interface.measurementEndpoint)
        let datagram = Datagram(
            interface: interface.address, channel: .discovery, destination: destination,
            bytes: header.encoded(with: announcement))
        outbox.append(datagram)
    }

    mutating func receivedDiscovery(
        _ datagram: [UInt8], from source: Endpoint, onInterfaceAt index: Int, at now: HostTime
    ) throws(WireError) {
        let message = try DiscoveryDecoder(datagram)
        let sender = message.header.sender
        guard sender != nodeID, !formerNodeIDs.contains(sender) else { return }
        // A program on this machine may answer from the address of another of its interfaces.
        let isOwnAddress = interfaces.contains { $0.address == source.address }
        let address = isOwnAddress ? interfaces[index].address : source.address
        switch message.header.kind {
        case .byeBye:
            let peer = Announcer(node: sender, address: address, interface: interfaces[index].address)
            if peers.remove(peer) { recountPeers(at: now) }
        case .alive:
            // Answered even if the payload is invalid.
            if listensUntil == nil {
                interfaces[index].lastSend = now
                send(.response, to: .peer(source), on: interfaces[index])
            }
            received(try message.announcement(), message.header, from: address, onInterfaceAt: index, at: now)
        case .response:
            received(try message.announcement(), message.header, from: address, onInterfaceAt: index, at: now)
        }
    }

    private mutating func received(
        _ announcement: Announcement, _ header: DiscoveryHeader, from source: IPAddress, onInterfaceAt index: Int,
        at now: HostTime
    ) {
        let id = announcement.session
        let isNewTimeline = !peers.holds(announcement.timeline, in: id)
        let isNewStartStop = !peers.holds(announcement.startStop, in: id)
        let lastHeard = peers.lastHeard(header.sender, in: id)
        let expiry = now.advanced(byMicroseconds: Int64(header.timeToLive) * 1_000_000)
        let record = PeerRecord(
            node: header.sender, interface: interfaces[index].address, announcement: announcement, expiry: expiry,
            source: source, at: now)
        let evidence = ChangeLog.Evidence(
            announcement: announcement, announcer: record.announcer, lastHeard: lastHeard)
        hasHeardPeers = true
        guard admit(record, at: now) else { return }
        noteExtremes(of: announcement, from: source, at: now)
        let before = before
        let pruneAt = expiry.advanced(byMicroseconds: Self.prunePadding)
        interfaces[index].pruneAt = min(interfaces[index].pruneAt ?? pruneAt, pruneAt)
        // The timeline first: it may make us join, and start/stop is then judged within that session.
        if isNewTimeline { saw(announcement.timeline, in: id, at: now) }
        measureIfNeeded(through: record.announcer, at: now)
        if isNewStartStop { saw(announcement.startStop, in: id, at: now) }
        if lastHeard == nil { recountPeers(at: now) }
        noteChanges(since: before, evidence, at: now)
    }

    /// Puts a record into the table; false if there is no room for it.
    private mutating func admit(_ record: PeerRecord, at now: HostTime) -> Bool {
        let running = measurements
        switch peers.insert(record, in: session.id, sparing: { Set(running.map(\.peer)) }) {
        case .admitted: return true
        case .inPlaceOf(let removed):
            noteCrowd(at: peers.greediest, now)
            forgetIfDeserted(removed.announcement.session)
            if removed.announcement.session == session.id { recountPeers(at: now) }
            return true
        case .refused:
            noteCrowd(at: peers.greediest, now)
            return false
        }
    }

    /// Notes that there was no room for something announced, and which address takes the most room.
    mutating func noteCrowd(at source: IPAddress?, _ now: HostTime) {
        refusedDatagrams += 1
        crowd = Crowd(source: crowd?.source ?? source, until: now.advanced(byMicroseconds: Self.crowdMemory))
    }

    /// Notes who announces numbers in our session that no program comes to by itself; peers take and repeat them.
    private mutating func noteExtremes(of announcement: Announcement, from source: IPAddress, at now: HostTime) {
        guard announcement.session == session.id, announcement.isExtreme(at: session.transform.ghostTime(of: now))
        else { return }
        extreme = (extreme?.source ?? source, now.advanced(byMicroseconds: Self.crowdMemory))
    }

    /// Forgets the crowd once it has displaced nothing for a while, and extreme numbers that are announced no more.
    mutating func forgetCrowd(at now: HostTime) {
        if let crowd, crowd.until <= now { self.crowd = nil }
        if let extreme, extreme.until <= now { self.extreme = nil }
    }

    /// Forgets expired peers, a second after the earliest of them has expired.
    mutating func prunePeers(at now: HostTime) {
        var hasPruned = false
        for index in interfaces.indices {
            guard let pruneAt = interfaces[index].pruneAt, pruneAt <= now else { continue }
            let address = interfaces[index].address
            // The peer that set the timer may have been heard again, or have left, since then.
            if let earliest = peers.earliestExpiry(on: address),
                earliest.advanced(byMicroseconds: Self.prunePadding) <= now
            {
                peers.removeExpired(on: address, at: now)
                hasPruned = true
            }
            interfaces[index].pruneAt = peers.earliestExpiry(on: address)?
                .advanced(byMicroseconds: Self.prunePadding)
            forgetDesertedSessions()
        }
        if hasPruned { recountPeers(isLoss: true, at: now) }
    }

    /// Counts the peers in our session; if none are left, founds a new session.
    ///
    /// - Parameters:
    ///   - isLoss: whether peers have gone without a good-bye.
    ///   - now: the present time.
    mutating func recountPeers(isLoss: Bool = false, at now: HostTime) {
        let count = peers.memberCount(of: session.id)
        guard count != peerCount else { return }
        (peerCount, membersChangedAt, hasLostPeers) = (count, now, count == 0 && isLoss)
        if count == 0 { foundSession(at: now) }
    }
}
