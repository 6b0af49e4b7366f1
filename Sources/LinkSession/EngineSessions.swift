import BeatTime

// Which session to be in, and what its timeline is.
extension Engine {
    /// Sessions whose ages differ by less than this, in microseconds, count as equally old; the smaller ID wins.
    static let ageTolerance: Int64 = 500_000
    /// How long a good-bye takes at most to arrive, in microseconds.
    static let travelTime: Int64 = 100_000
    /// How long to listen before announcing a session where another may just have begun, in microseconds.
    ///
    /// Peers announce theirs every 0.25 s. A session that is founded then is younger than any that began at the good-bye.
    static let listeningTime = ageTolerance + travelTime
    /// Most known sessions; those without a member in the table of peers are forgotten to make room.
    private static let knownSessionLimit = PeerTable.capacity
    private static let formerNodeIDLimit = 16
    /// How long joining takes at most, in microseconds: for us to join an older session, or its members to join ours.
    private static let timeToJoin: Int64 = 500_000

    /// Processes a new timeline from a member of a session.
    mutating func saw(_ timeline: GhostTimeline, in id: NodeID, at now: HostTime) {
        if id == session.id {
            if timeline.beatOrigin > session.timeline.beatOrigin { apply(timeline, session.transform, at: now) }
        } else if let index = knownSessions.firstIndex(where: { $0.id == id }) {
            if timeline.beatOrigin > knownSessions[index].timeline.beatOrigin {
                knownSessions[index].timeline = timeline
            }
        } else {
            remember(KnownSession(id: id, timeline: timeline, since: now))
        }
        // Even if nothing was adopted, so that a peer that announced something older learns the newer state at once.
        pushState()
    }

    /// Measures the session of a peer just heard, unless that was done or is under way.
    ///
    /// Anyone may announce a session, and then never answer, or say that it is younger than it is.
    mutating func measureIfNeeded(through peer: Announcer, at now: HostTime) {
        guard let record = peers[peer], let known = knownSessions.first(where: { $0.id == record.announcement.session })
        else { return }
        let running = measurements.filter { $0.session == known.id }
        guard !running.isEmpty || known.isRejected else {
            if !startMeasurement(of: known.id, at: now) { forget(known.id) }
            return
        }
        guard !record.wasAsked(at: now), record.isMeasurable else { return }
        if isSecondOpinionDue(from: peer, on: known, running, at: now) {
            startMeasurement(of: known.id, through: record, at: now)
        }
    }

    /// Whether to measure a session through a further peer.
    private func isSecondOpinionDue(
        from peer: Announcer, on known: KnownSession, _ running: [Measurement], at now: HostTime
    ) -> Bool {
        if let own = running.first(where: { $0.peer == peer }) { return own.isSlow(at: now) }
        let isNewAddress = peer.node == known.id || !peers.wasAsked(peer.address, about: known.id, at: now)
        guard isNewAddress else { return !known.isRejected && running.allSatisfy { $0.isSlow(at: now) } }
        return known.since.microseconds(to: now) >= Self.timeToJoin || running.contains { $0.isUnanswered(at: now) }
    }

    /// Adds a session to the known ones; if there are too many, forgets those that nobody announces any more.
    private mutating func remember(_ found: KnownSession) {
        if knownSessions.count >= Self.knownSessionLimit { forgetDesertedSessions() }
        let index = knownSessions.firstIndex { found.id < $0.id } ?? knownSessions.endIndex
        knownSessions.insert(found, at: index)
    }

    /// Forgets the sessions that nobody announces any more.
    mutating func forgetDesertedSessions() {
        guard !knownSessions.isEmpty else { return }
        let announced = peers.sessions
        knownSessions.removeAll { !announced.contains($0.id) }
    }

    /// Forgets a session if nobody announces it any more.
    mutating func forgetIfDeserted(_ id: NodeID) {
        if !peers.hasMembers(of: id) { knownSessions.removeAll { $0.id == id } }
    }

    /// Forgets a session and its peers, so that the next message of a member starts a new measurement.
    mutating func forget(_ id: NodeID) {
        knownSessions.removeAll { $0.id == id }
        peers.removeAll(of: id)
    }

    /// Processes a successful measurement of another session, which is joined if it is older than ours.
    mutating func measured(_ id: NodeID, _ burst: Burst, through peer: Announcer, at now: HostTime) {
        let measured = SessionClock(burst)
        let transform = measured.transform(at: now)
        guard let index = knownSessions.firstIndex(where: { $0.id == id }) else { return }
        // It may have no members left; joining it would only make us look older than we are.
        guard peers.hasMembers(of: id) else { return forget(id) }
        guard mustBeJoined(id, transform, at: now) else { return reject(id) }
        measuredThrough = peer
        measurements.removeAll { $0.session == id }
        join(knownSessions.remove(at: index), transform, at: now)
        follow(measured, at: now)
    }

    /// Notes that a measurement has shown that a session must not be joined.
    private mutating func reject(_ id: NodeID) {
        if let index = knownSessions.firstIndex(where: { $0.id == id }) { knownSessions[index].isRejected = true }
    }

    /// Whether a single round trip shows that its session must not be joined.
    ///
    /// It assumes the greatest age of the session that the round trip allows. If true, the session counts as measured.
    mutating func isRuledOut(_ id: NodeID, by trip: RoundTrip, at now: HostTime) -> Bool {
        let oldest = GhostTransform(intercept: trip.ghostTime.microseconds &- trip.sent.microseconds)
        guard !mustBeJoined(id, oldest, at: now) else { return false }
        reject(id)
        return true
    }

    /// Whether a session is older than the present one, or as old and has the smaller ID.
    ///
    /// While we only listen, every session is older: ours is not founded yet.
    private func mustBeJoined(_ id: NodeID, _ transform: GhostTransform, at now: HostTime) -> Bool {
        guard listensUntil == nil else { return true }
        let difference = session.transform.ghostTime(of: now).microseconds(to: transform.ghostTime(of: now))
        if difference > Self.ageTolerance { return true }
        return difference.magnitude < Self.ageTolerance && id < session.id
    }

    private mutating func join(_ joined: KnownSession, _ transform: GhostTransform, at now: HostTime) {
        // Its age is certain, and its members will join this one in their own time.
        let never = HostTime(microseconds: .max)
        remember(KnownSession(id: session.id, timeline: session.timeline, since: never, isRejected: true))
        joins += 1
        listensUntil = nil
        forgetStartStop()
        session.id = joined.id
        let tempo = session.timeline.tempo
        apply(joined.timeline, transform, at: now)
        noteJoin(from: tempo, at: now)
        pushState()
        resumePlaying(in: joined.id, at: now)
        recountPeers(at: now)
    }

    /// Takes over playing from a session just joined, if an earlier run had played in it.
    private mutating func resumePlaying(in id: NodeID, at now: HostTime) {
        guard let end = resumesUntil else { return }
        resumesUntil = nil
        if now < end, let latest = peers.latestStartStop(in: id) { saw(latest, in: id, at: now) }
    }

    /// Announces the session founded here if nobody was heard while we listened.
    ///
    /// If somebody was, whose session could not be measured yet, ours begins only now. Theirs is then older, and theirs is
    /// the one that goes on.
    mutating func endListening(at now: HostTime) {
        guard let end = listensUntil, end <= now else { return }
        listensUntil = nil
        if hasHeardPeers { foundSession(at: now) } else { pushState() }
    }

    /// Leaves the present session for a new one with this peer as founder and only member.
    ///
    /// Tempo, beats and grid continue here. To others this is a new peer, and the youngest session. Measurements of other
    /// sessions go on: somebody who keeps entering and leaving ours must not keep us from joining an older one.
    mutating func foundSession(at now: HostTime) {
        formerNodeIDs.append(nodeID)
        if formerNodeIDs.count > Self.formerNodeIDLimit { formerNodeIDs.removeFirst() }
        nodeID = nodeIDs.next()
        // Counted from our own grid's origin, which is never far, whatever numbers the old session had.
        let beat = client.beats(at: now) - client.beatOrigin
        let timeline = GhostTimeline(
            tempo: session.timeline.tempo, beatOrigin: beat, timeOrigin: GhostTime(microseconds: 0))
        forgetStartStop()
        session.id = nodeID
        apply(timeline, GhostTransform(foundingAt: now), at: now)
        measurements.removeAll { measurement in
            !knownSessions.contains { $0.id == measurement.session && !$0.isRejected }
        }
        let measured = Set(measurements.map(\.session))
        knownSessions.removeAll { !measured.contains($0.id) }
        peers.removeAll(exceptOf: measured)
        remeasureAt = nil
        clock = nil
        measuredThrough = nil
        pushState()
    }

    /// Makes a timeline and a clock the present session's, and updates this machine's timeline.
    mutating func apply(_ timeline: GhostTimeline, _ transform: GhostTransform, at now: HostTime) {
        guard timeline != session.timeline || transform != session.transform else { return }
        session.timeline = timeline
        session.transform = transform
        client = client.following(timeline, through: transform, at: now)
        if isStartStopSyncEnabled, followsStartStop { clientStartStop = hostStartStop(at: now) }
    }

    /// Forgets the start/stop state of the session that was left; our own programs keep theirs.
    private mutating func forgetStartStop() {
        startStop = .initial
        startStopCountsFrom = startStop.timestamp
        followsStartStop = false
    }
}
