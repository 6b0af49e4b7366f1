package import BeatTime

// What this machine's programs see and change.
extension Engine {
    /// The state to read, or to change and ``commit(_:at:)``.
    package var sessionState: SessionState {
        let captured = SessionState.Captured(
            timeline: client, isPlaying: clientStartStop.isPlaying, timeForIsPlaying: clientStartStop.time)
        return SessionState(captured, isConnected: peerCount > 0, joinsBefore: joins)
    }

    /// Changes the newest state and commits it, so that nothing can come between.
    package mutating func edit(at now: HostTime, _ body: (inout SessionState) -> Void) -> [Datagram] {
        edits &+= 1
        var state = sessionState
        body(&state)
        return commit(state, at: now)
    }

    /// Makes the changes to a captured state take effect, here and in the session.
    ///
    /// A timeline that was captured before another session was joined is dropped: it would carry the old session's
    /// tempo and grid to everyone in the new one. What the user wanted of play and stop still holds.
    ///
    /// - Parameters:
    ///   - state: what was captured, with the changes made to it.
    ///   - time: when it was committed, if that was before this thread came to know; the later of two edits wins by it.
    ///   - now: the present time.
    /// - Returns: what to send.
    package mutating func commit(_ state: SessionState, madeAt time: HostTime? = nil, at now: HostTime) -> [Datagram] {
        let time = min(time ?? now, now)
        // The timeline first: where play or stop falls, in beats, is said on the new one.
        if state.hasTimelineChanged, state.joinsBefore == joins { commitTimeline(of: state, madeAt: time, at: now) }
        if state.hasStartStopChanged { commitStartStop(of: state, madeAt: time) }
        return takeOutbox(at: now)
    }

    /// Has the first session that is joined by a time played along if it plays, though joining as such starts nothing.
    ///
    /// For a program that comes back after a crash, and had played in that session.
    package mutating func resumePlaying(until end: HostTime) { resumesUntil = end }

    private mutating func commitTimeline(of state: SessionState, madeAt time: HostTime, at now: HostTime) {
        let (old, new) = (state.original.timeline, state.timeline)
        // The count of beats is private. Only tempo and grid are everyone's business.
        if new.tempo == old.tempo, new.timeOrigin == old.timeOrigin {
            var counted = client
            counted.beatOrigin = counted.beatOrigin + (new.beatOrigin - old.beatOrigin)
            if counted.isBearable { client = counted }
            return
        }
        let edited = HostTimeline(tempo: new.tempo.clamped, beatOrigin: new.beatOrigin, timeOrigin: new.timeOrigin)
        let published = session.timeline.edited(to: edited, through: session.transform, at: time)
        guard edited.isBearable, published.isBearable else { return }
        client = edited
        peers.overwriteTimelines(of: session.id, with: published)
        apply(published, session.transform, at: now)
        pushState()
    }

    private mutating func commitStartStop(of state: SessionState, madeAt time: HostTime) {
        guard Wire.origins.contains(state.timeForIsPlaying.microseconds) else { return }
        // Later than what it replaces, even if a peer's clock says otherwise: the user's hand is on the button.
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

    /// How far a timestamp may lie ahead of the session's clock, in microseconds.
    ///
    /// An honest one is never ahead. A stranger's from the far future would silence everyone who comes after it.
    private static let timestampTolerance: Int64 = 60_000_000

    /// A member of a session announced a start/stop state that no other member had announced.
    mutating func saw(_ announced: StartStopState, in id: NodeID, at now: HostTime) {
        let latest = session.transform.ghostTime(of: now).advanced(byMicroseconds: Self.timestampTolerance)
        guard id == session.id, announced.timestamp > startStop.timestamp, announced.timestamp < latest else { return }
        // Kept and passed on even with sync off, for peers that cannot hear each other.
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
