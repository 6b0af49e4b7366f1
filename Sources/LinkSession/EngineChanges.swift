import BeatTime

// Who changed what.
extension Engine {
    /// How long the number of members must not have changed for the only other one to be certain, in microseconds.
    ///
    /// A peer may announce its last change, or what it missed, just as it leaves or comes back.
    private static let membershipRest: Int64 = 1_000_000

    /// What a change of the session is compared with.
    struct Before {
        let session: NodeID
        let tempo: Tempo
        let startStop: StartStopState
        let isPlaying: Bool
    }

    /// The present state, to be compared with after an event.
    var before: Before {
        Before(
            session: session.id, tempo: session.timeline.tempo, startStop: startStop,
            isPlaying: clientStartStop.isPlaying)
    }

    /// Records what a member's announcement has changed, or that it repeats a change.
    mutating func noteChanges(
        since before: Before, _ announcement: Announcement, from announcer: Announcer, at now: HostTime
    ) {
        guard announcement.session == session.id, before.session == session.id else { return }
        changeLog.heard(announcement, from: announcer.node)
        if before.tempo != session.timeline.tempo {
            note(.tempo(session.timeline.tempo), announcement, from: announcer, at: now)
        }
        let isNew = before.startStop.isPlaying != startStop.isPlaying
        if before.startStop != startStop, isNew || before.isPlaying != clientStartStop.isPlaying {
            note(
                startStop.isPlaying ? .play : .stop, isFollowed: isStartStopSyncEnabled, announcement, from: announcer,
                at: now)
        }
    }

    private mutating func note(
        _ what: SessionChange.What, isFollowed: Bool = true, _ announcement: Announcement, from announcer: Announcer,
        at now: HostTime
    ) {
        let isAlone =
            peers.isOnlyMember(announcer, of: session.id)
            && (membersChangedAt.map { $0.microseconds(to: now) >= Self.membershipRest } ?? true)
        let change = SessionChange(
            what: what, origin: .peer(announcer), isProbable: !isAlone, isFollowed: isFollowed, at: now)
        changeLog.add(change, onlyIn: isAlone ? announcement : nil)
    }

    /// Records a tempo change made here.
    mutating func noteOwnTempo(since before: Before, at now: HostTime) {
        guard before.tempo != session.timeline.tempo else { return }
        changeLog.add(SessionChange(what: .tempo(session.timeline.tempo), origin: .here, at: now))
    }

    /// Records a play or stop made here.
    mutating func noteOwnStartStop(since before: Before, at now: HostTime) {
        guard before.isPlaying != clientStartStop.isPlaying else { return }
        changeLog.add(SessionChange(what: clientStartStop.isPlaying ? .play : .stop, origin: .here, at: now))
    }

    /// Records that another session was joined.
    mutating func noteJoin(from tempo: Tempo, at now: HostTime) {
        let founder = peers.records.first { $0.node == session.id && $0.announcement.session == session.id }
        changeLog.add(
            SessionChange(
                what: .joined(session: session.id, from: tempo, to: session.timeline.tempo),
                origin: founder.map { .peer($0.announcer) } ?? .unknown, at: now))
    }
}
