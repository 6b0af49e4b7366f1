package import BeatTime

// What this machine's programs read and change.
extension Engine {
    /// The state to read, or to change and ``commit(_:at:)``.
    package var sessionState: SessionState {
        let captured = SessionState.Captured(
            timeline: client, isPlaying: clientStartStop.isPlaying, timeForIsPlaying: clientStartStop.time)
        return SessionState(captured, isConnected: peerCount > 0, joinsBefore: joins)
    }

    /// Changes the newest state and commits it, so that nothing can come in between.
    package mutating func edit(at now: HostTime, _ body: (inout SessionState) -> Void) -> [Datagram] {
        edits &+= 1
        var state = sessionState
        body(&state)
        return commit(state, at: now)
    }

    /// Applies the changes to a captured state, here and in the session.
    ///
    /// A timeline captured before another session was joined is dropped. It would carry the old session's tempo and
    /// grid to all peers of the new one. Changes of play and stop still apply.
    ///
    /// - Parameters:
    ///   - state: a captured state, with changes.
    ///   - time: when it was committed, if earlier than now; of two edits the later one wins.
    ///   - now: the present time.
    /// - Returns: what to send.
    package mutating func commit(_ state: SessionState, madeAt time: HostTime? = nil, at now: HostTime) -> [Datagram] {
        let time = min(time ?? now, now)
        // The timeline first: the beat of a play or stop refers to the new one.
        let before = before
        if state.hasTimelineChanged, state.joinsBefore == joins {
            commitTimeline(of: state, madeAt: time, at: now)
            noteOwnTempo(since: before, at: now)
        }
        if state.hasStartStopChanged {
            commitStartStop(of: state, madeAt: time)
            noteOwnStartStop(since: before, at: now)
        }
        return takeOutbox(at: now)
    }

    /// Takes over playing from the first session joined before a deadline; usually joining starts nothing.
    ///
    /// For a program that restarts after a crash and had played in that session.
    package mutating func resumePlaying(until end: HostTime) { resumesUntil = end }

    private mutating func commitTimeline(of state: SessionState, madeAt time: HostTime, at now: HostTime) {
        let (old, new) = (state.original.timeline, state.timeline)
        // The count of beats is private; only tempo and grid are shared.
        if new.tempo == old.tempo, new.timeOrigin == old.timeOrigin {
            var counted = client
            counted.beatOrigin = counted.beatOrigin + (new.beatOrigin - old.beatOrigin)
            if counted.isRepresentable { client = counted }
            return
        }
        let edited = HostTimeline(tempo: new.tempo.clamped, beatOrigin: new.beatOrigin, timeOrigin: new.timeOrigin)
        let published = session.timeline.edited(to: edited, through: session.transform, at: time)
        guard edited.isRepresentable, published.isRepresentable else { return }
        client = edited
        peers.overwriteTimelines(of: session.id, with: published)
        apply(published, session.transform, at: now)
        pushState()
    }

    private mutating func commitStartStop(of state: SessionState, madeAt time: HostTime) {
        guard Wire.origins.contains(state.timeForIsPlaying.microseconds) else { return }
        // Later than what it replaces, even if a peer's clock says otherwise, because the user has just pressed a
        // button.
        var timestamp = max(time, clientStartStop.timestamp.advanced(byMicroseconds: 1))
        if isStartStopSyncEnabled {
            let shared = session.transform.hostTime(of: startStop.timestamp)
            timestamp = max(timestamp, shared.advanced(byMicroseconds: 1))
        }
        changeStartStop(
            to: HostStartStopState(
                isPlaying: state.isPlaying, time: state.timeForIsPlaying, timestamp: timestamp))
        guard isStartStopSyncEnabled else { return }
        startStop = clientStartStop.inGhostTime(on: session.timeline, through: session.transform)
        followsStartStop = true
        pushState()
    }

    /// Most that a timestamp may be ahead of the session's clock, in microseconds.
    ///
    /// A correct one is never ahead. One from the far future would block all later ones.
    private static let timestampTolerance: Int64 = 60_000_000

    /// Processes a new start/stop state from a member of a session.
    mutating func saw(_ announced: StartStopState, in id: NodeID, at now: HostTime) {
        let latest = session.transform.ghostTime(of: now).advanced(byMicroseconds: Self.timestampTolerance)
        guard id == session.id, announced.timestamp > startStop.timestamp, announced.timestamp < latest else { return }
        // Stored and passed on even with sync off, for peers that cannot hear each other.
        startStop = announced
        followsStartStop = isStartStopSyncEnabled
        pushState()
        guard isStartStopSyncEnabled else { return }
        changeStartStop(to: announced.inHostTime(on: session.timeline, through: session.transform))
    }

    private mutating func changeStartStop(to changed: HostStartStopState) {
        clientStartStop = changed
    }
}
