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

    /// Records what a member's announcement has changed, or that it repeats a change.
    mutating func noteChanges(since before: Before, _ evidence: ChangeLog.Evidence, at now: HostTime) {
        guard evidence.announcement.session == session.id, before.session == session.id else { return }
        changeLog.heard(evidence)
        if before.timeline.tempo != session.timeline.tempo {
            // The origin of a new timeline is the beat at which it was made.
            let made = before.timeline.time(of: evidence.announcement.timeline.beatOrigin)
            note(.tempo(session.timeline.tempo), evidence, madeAt: made, at: now)
        }
        let isNew = before.startStop.isPlaying != startStop.isPlaying
        if before.startStop != startStop, isNew || before.isPlaying != clientStartStop.isPlaying {
            note(
                startStop.isPlaying ? .play : .stop, isFollowed: isStartStopSyncEnabled, evidence,
                madeAt: startStop.timestamp, at: now)
        }
    }

    private mutating func note(
        _ what: SessionChange.What, isFollowed: Bool = true, _ evidence: ChangeLog.Evidence, madeAt: GhostTime,
        at now: HostTime
    ) {
        let isAlone =
            peers.isOnlyMember(evidence.announcer, of: session.id)
            && (membersChangedAt.map { $0.microseconds(to: now) >= Self.membershipRest } ?? true)
        let change = SessionChange(
            what: what, origin: .peer(evidence.announcer), isProbable: !isAlone, isFollowed: isFollowed, at: now)
        changeLog.add(change, by: evidence, madeAt: session.transform.hostTime(of: madeAt))
    }

    /// Records a tempo change made here.
    mutating func noteOwnTempo(since before: Before, at now: HostTime) {
        guard before.timeline.tempo != session.timeline.tempo else { return }
        changeLog.add(SessionChange(what: .tempo(session.timeline.tempo), origin: .here, at: now))
    }

    /// Records a play or stop made here.
    mutating func noteOwnStartStop(since before: Before, at now: HostTime) {
        guard before.isPlaying != clientStartStop.isPlaying else { return }
        changeLog.add(SessionChange(what: clientStartStop.isPlaying ? .play : .stop, origin: .here, at: now))
    }

    /// Records that another session was joined.
    mutating func noteJoin(from tempo: Tempo, at now: HostTime) {
        let founders = peers.records.filter { $0.node == session.id && $0.announcement.session == session.id }
            .map(\.announcer)
        let founder = founders.first { $0 == measuredThrough } ?? founders.first
        changeLog.add(
            SessionChange(
                what: .joined(session: session.id, from: tempo, to: session.timeline.tempo),
                origin: founder.map { .peer($0) } ?? .unknown, at: now))
    }
}
