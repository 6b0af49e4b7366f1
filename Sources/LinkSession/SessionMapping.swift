package import BeatTime

// How the session's timeline and this machine's derive from each other.

extension Timeline where Time == HostTime {
    /// This machine's timeline after adopting a session's.
    ///
    /// The beat at `now` keeps its value. The grid moves: its origin becomes the host time of the session's beat 0.
    package func following(
        _ session: GhostTimeline, through transform: GhostTransform, at now: HostTime
    ) -> HostTimeline {
        let onward = HostTimeline(tempo: session.tempo, beatOrigin: beats(at: now), timeOrigin: now)
        let zero = transform.hostTime(of: session.time(of: .zero))
        return HostTimeline(tempo: session.tempo, beatOrigin: onward.beats(at: zero), timeOrigin: zero)
    }
}

extension Timeline where Time == GhostTime {
    /// The session's timeline after publishing an edit of this machine's.
    ///
    /// Its beat origin is its priority: the present beat by the old timeline, at least a microbeat above the old
    /// origin, so that an edit always wins over what it replaces.
    package func edited(
        to client: HostTimeline, through transform: GhostTransform, at now: HostTime
    ) -> GhostTimeline {
        let zero = transform.ghostTime(of: client.timeOrigin)
        if beats(at: zero) == .zero, client.tempo == tempo { return self }
        let grid = GhostTimeline(tempo: client.tempo, beatOrigin: .zero, timeOrigin: zero)
        let priority = max(beats(at: transform.ghostTime(of: now)), beatOrigin + Beats(microbeats: 1))
        return GhostTimeline(tempo: client.tempo, beatOrigin: priority, timeOrigin: grid.time(of: priority))
    }
}

/// Play or stop as the session shares it.
package struct StartStopState: Hashable, Sendable {
    package var isPlaying: Bool
    /// The beat at which it takes effect on the session's timeline, so that it moves with the tempo.
    package var beats: Beats
    /// When it was requested; the later one wins.
    package var timestamp: GhostTime

    package init(isPlaying: Bool, beats: Beats, timestamp: GhostTime) {
        self.isPlaying = isPlaying
        self.beats = beats
        self.timestamp = timestamp
    }

    /// The initial state of a session; every other state wins over it.
    package static let initial = StartStopState(
        isPlaying: false, beats: .zero, timestamp: GhostTime(microseconds: 0))

    /// The same state in this machine's time.
    package func inHostTime(on timeline: GhostTimeline, through transform: GhostTransform) -> HostStartStopState {
        HostStartStopState(
            isPlaying: isPlaying, time: transform.hostTime(of: timeline.time(of: beats)),
            timestamp: transform.hostTime(of: timestamp))
    }
}

/// Play or stop as this machine sees it.
package struct HostStartStopState: Hashable, Sendable {
    package var isPlaying: Bool
    /// When it takes effect.
    package var time: HostTime
    /// When it was requested.
    package var timestamp: HostTime

    package init(isPlaying: Bool, time: HostTime, timestamp: HostTime) {
        self.isPlaying = isPlaying
        self.time = time
        self.timestamp = timestamp
    }

    /// The same state in the session's time.
    package func inGhostTime(on timeline: GhostTimeline, through transform: GhostTransform) -> StartStopState {
        StartStopState(
            isPlaying: isPlaying, beats: timeline.beats(at: transform.ghostTime(of: time)),
            timestamp: transform.ghostTime(of: timestamp))
    }
}
