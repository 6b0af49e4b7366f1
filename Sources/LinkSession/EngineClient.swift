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
    ///
    /// - Parameters:
    ///   - now: the present time.
    ///   - body: makes the changes.
    /// - Returns: what to send.
    /// - Throws: if the edit cannot be made; then nothing of it is.
    package mutating func edit(
        at now: HostTime, _ body: (inout SessionState) -> Void
    ) throws(EditRefusal) -> [Datagram] {
        edits &+= 1
        var state = sessionState
        body(&state)
        return try commit(state, at: now)
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
    /// - Throws: if the edit cannot be made; then nothing of it is.
    package mutating func commit(
        _ state: SessionState, madeAt time: HostTime? = nil, at now: HostTime
    ) throws(EditRefusal) -> [Datagram] {
        let time = min(time ?? now, now)
        if state.hasStartStopChanged,
            state.timeForIsPlaying.microseconds(to: now).magnitude > HostTimeline.furthestOrigin
        {
            throw .outOfReach
        }
        // The timeline first: the beat of a play or stop refers to the new one.
        let before = before
        if state.hasTimelineChanged, state.joinsBefore == joins {
            try commitTimeline(of: state, madeAt: time, at: now)
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

    private mutating func commitTimeline(
        of state: SessionState, madeAt time: HostTime, at now: HostTime
    ) throws(EditRefusal) {
        let (old, new) = (state.original.timeline, state.timeline)
        // The count of beats is private; only tempo and grid are shared.
        if new.tempo == old.tempo, new.timeOrigin == old.timeOrigin {
            var counted = client
            counted.beatOrigin = counted.beatOrigin + (new.beatOrigin - old.beatOrigin)
            guard counted.isWithinReach(of: now) else { throw .outOfReach }
            client = counted
            return
        }
        let edited = HostTimeline(tempo: new.tempo.clamped, beatOrigin: new.beatOrigin, timeOrigin: new.timeOrigin)
        guard edited.isWithinReach(of: now) else { throw .outOfReach }
        let published = try session.timeline.edited(to: edited, through: session.transform, at: time)
        client = edited
        peers.overwriteTimelines(of: session.id, with: published)
        apply(published, session.transform, at: now)
        pushState()
    }

    private mutating func commitStartStop(of state: SessionState, madeAt time: HostTime) {
        var stamp = session.transform.ghostTime(of: time)
        // Later than what it replaces, even if a peer's clock says otherwise, because the user has just pressed a button.
        // After the last stamp there is, others will not follow; we do all the same.
        let latest = startStop.timestamp.microseconds
        if stamp.microseconds <= latest, latest < .max { stamp = GhostTime(microseconds: latest + 1) }
        clientStartStop = HostStartStopState(
            isPlaying: state.isPlaying, time: state.timeForIsPlaying, timestamp: session.transform.hostTime(of: stamp))
        guard isStartStopSyncEnabled else { return }
        startStop = clientStartStop.inGhostTime(on: session.timeline, through: session.transform)
        startStopCountsFrom = min(stamp, session.transform.ghostTime(of: time))
        followsStartStop = true
        pushState()
    }

    /// Processes a new start/stop state from a member of a session.
    mutating func saw(_ announced: StartStopState, in id: NodeID, at now: HostTime) {
        guard id == session.id, isNewer(announced, at: now) else { return }
        // Stored and passed on even with sync off, for peers that cannot hear each other.
        startStop = announced
        startStopCountsFrom = min(announced.timestamp, session.transform.ghostTime(of: now))
        followsStartStop = isStartStopSyncEnabled
        pushState()
        if isStartStopSyncEnabled { clientStartStop = hostStartStop(at: now) }
    }

    /// Whether a start/stop state wins over the present one.
    ///
    /// The later stamp wins, in all peers. A right one is never ahead of the session's clock. One that is ahead counts as
    /// of when it came: whatever is stamped after that wins as well, or a single datagram would block every later Stop.
    private func isNewer(_ announced: StartStopState, at now: HostTime) -> Bool {
        if announced.timestamp > startStop.timestamp { return true }
        return announced.timestamp > startStopCountsFrom
            && announced.timestamp <= session.transform.ghostTime(of: now)
    }

    /// The session's start/stop state in our time; what takes effect further away than times reach counts as so far.
    func hostStartStop(at now: HostTime) -> HostStartStopState {
        var state = startStop.inHostTime(on: session.timeline, through: session.transform)
        let reach = HostTimeline.furthestOrigin
        let distance = min(max(now.microseconds(to: state.time), -reach), reach)
        state.time = now.advanced(byMicroseconds: distance)
        return state
    }
}
