import BeatTime

// Who changed what.
extension Engine {
    /// What a change of the session is compared with.
    struct Before {
        let session: NodeID
        let timeline: GhostTimeline
        let startStop: StartStopState
        let isPlaying: Bool
    }

    /// The present state, to be compared with after an event.
    var before: Before {
        Before(
            session: session.id, timeline: session.timeline, startStop: startStop,
            isPlaying: clientStartStop.isPlaying)
    }

    /// Records what a member's announcement has changed, or whether it repeats a change.
    mutating func noteChanges(
        since before: Before, _ announcement: Announcement, from telling: Telling, at now: HostTime
    ) {
        guard announcement.session == session.id, before.session == session.id else { return }
        changeLog.heard(announcement, from: telling, at: now)
        if before.timeline != session.timeline, before.timeline.tempo != session.timeline.tempo {
            search(
                .timeline(session.timeline), .tempo(session.timeline.tempo), from: telling,
                madeAt: madeAt(of: session.timeline, after: before.timeline), at: now)
        }
        if before.startStop != startStop {
            let isNew = before.startStop.isPlaying != startStop.isPlaying
            guard isNew || before.isPlaying != clientStartStop.isPlaying else { return }
            search(
                .startStop(startStop), startStop.isPlaying ? .play : .stop, isFollowed: isStartStopSyncEnabled,
                from: telling, madeAt: session.transform.hostTime(of: startStop.timestamp), at: now)
        }
    }

    private mutating func search(
        _ subject: Search.Subject, _ what: SessionChange.What, isFollowed: Bool = true, from telling: Telling,
        madeAt: HostTime?, at now: HostTime
    ) {
        let search = Search(
            subject, what, isFollowed: isFollowed, by: telling, members: peers.members(of: session.id),
            madeAt: madeAt, delay: peers.longestRoundTrip(in: session.id), at: now)
        changeLog.adopted(search, at: now)
    }

    /// When a peer made a timeline: an edit takes the beat of its moment, on the old timeline, as its beat origin.
    ///
    /// - Parameters:
    ///   - timeline: the new one.
    ///   - old: the one it replaces.
    /// - Returns: nil if the origin is the least possible one, which says nothing.
    private func madeAt(of timeline: GhostTimeline, after old: GhostTimeline) -> HostTime? {
        guard timeline.beatOrigin > old.beatOrigin + Beats(microbeats: 1) else { return nil }
        return session.transform.hostTime(of: old.time(of: timeline.beatOrigin))
    }

    /// Records a tempo change made here.
    mutating func noteOwnTempo(since before: Before, at now: HostTime) {
        guard before.timeline != session.timeline else { return }
        changeLog.supersede(.timeline(session.timeline), at: now)
        guard before.timeline.tempo != session.timeline.tempo else { return }
        changeLog.add(
            SessionChange(what: .tempo(session.timeline.tempo), origin: .here, at: now, madeAt: now))
    }

    /// Records a play or stop made here.
    mutating func noteOwnStartStop(since before: Before, at now: HostTime) {
        if isStartStopSyncEnabled { changeLog.supersede(.startStop(startStop), at: now) }
        guard before.isPlaying != clientStartStop.isPlaying else { return }
        changeLog.add(
            SessionChange(
                what: clientStartStop.isPlaying ? .play : .stop, origin: .here, at: now, madeAt: now))
    }

    /// Records that another session was joined.
    mutating func noteJoin(from tempo: Tempo, at now: HostTime) {
        changeLog.endAll(at: now)
        let members = peers.members(of: session.id)
        let founder = members.first { $0.teller.node == session.id }?.teller
        changeLog.add(
            SessionChange(
                what: .joined(session: session.id, founder: founder, from: tempo, to: session.timeline.tempo),
                origin: (founder ?? members.first?.teller).map { .peer($0) } ?? .unknown, at: now))
    }
}
