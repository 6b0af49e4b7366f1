package import BeatTime

// How the session's timeline and this machine's derive from each other.

extension Timeline where Time == HostTime {
    /// This machine's timeline after adopting a session's.
    ///
    /// The beat at `now` keeps its value. The grid moves: its origin becomes the host time of the session's beat 0. If
    /// that is more than ``furthestOrigin`` away, as only a hostile peer's numbers make it, it becomes the last beat
    /// before `now` with the same place in every cycle.
    package func following(
        _ session: GhostTimeline, through transform: GhostTransform, at now: HostTime
    ) -> HostTimeline {
        let onward = HostTimeline(tempo: session.tempo, beatOrigin: beats(at: now), timeOrigin: now)
        var origin = transform.hostTime(of: session.time(of: .zero))
        let elapsed = origin.microseconds(to: now)
        if elapsed.magnitude > Self.furthestOrigin {
            let cycle = Beats.commonCycle.microbeats / 1_000_000 * session.tempo.microsecondsPerBeat
            let inside = elapsed % cycle
            origin = now.advanced(byMicroseconds: inside < 0 ? 0 - inside - cycle : 0 - inside)
        }
        return HostTimeline(tempo: session.tempo, beatOrigin: onward.beats(at: origin), timeOrigin: origin)
    }

    /// The greatest distance of the time origin from the present, in microseconds: nine years.
    package static var furthestOrigin: Int64 { 1 << 48 }
    /// The greatest number of the present beat, in microbeats: two billion beats.
    private static var furthestBeat: Int64 { 1 << 51 }

    /// Whether the origins are near enough for all further arithmetic, that of ticks too.
    ///
    /// The beat origin then stays within what a double represents exactly, whatever is followed later.
    package func isWithinReach(of now: HostTime) -> Bool {
        timeOrigin.microseconds(to: now).magnitude <= Self.furthestOrigin
            && beats(at: now).microbeats.magnitude <= Self.furthestBeat
    }
}

extension Beats {
    /// A length that all usual cycles divide: those of 1 to 16 beats, and their halves and quarters.
    static let commonCycle = Beats(720_720)
}

/// Whether a double represents the number of microbeats exactly, as the beats shown to people must be.
func isCountable(_ beats: Beats) -> Bool { beats.microbeats.magnitude <= 1 << 53 }

extension Timeline where Time == GhostTime {
    /// The session's timeline after publishing an edit of this machine's.
    ///
    /// Its beat origin is its priority: the present beat by the old timeline, at least a microbeat above the old
    /// origin, so that an edit always wins over what it replaces.
    ///
    /// - Parameters:
    ///   - client: this machine's timeline with the edit.
    ///   - transform: the session's clock.
    ///   - now: when the edit was made.
    /// - Returns: the timeline to announce.
    /// - Throws: if no timeline could win over this one, because its origin is at the end of all numbers.
    package func edited(
        to client: HostTimeline, through transform: GhostTransform, at now: HostTime
    ) throws(EditRefusal) -> GhostTimeline {
        let zero = transform.ghostTime(of: client.timeOrigin)
        if beats(at: zero) == .zero, client.tempo == tempo { return self }
        guard beatOrigin.microbeats < .max else { throw .nothingCanWin }
        let grid = GhostTimeline(tempo: client.tempo, beatOrigin: .zero, timeOrigin: zero)
        var priority = beatOrigin + Beats(microbeats: 1)
        let present = transform.ghostTime(of: now)
        // Beyond that the present beat may be no number of 64 bits.
        if timeOrigin.microseconds(to: present).magnitude <= 1 << 53 { priority = max(priority, beats(at: present)) }
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
    ///
    /// Numbers that only a hostile peer announces wrap around.
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
