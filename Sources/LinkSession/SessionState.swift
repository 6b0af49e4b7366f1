public import BeatTime

/// A session's timeline and transport as they were captured: read it, change it, commit it.
///
/// A plain value. Nothing done to it has an effect until it is committed, and a commit carries only what differs from
/// what was captured.
public struct SessionState: Hashable, Sendable, BitwiseCopyable {
    /// The timeline in host time; its time origin is the host time of the session's beat 0.
    public package(set) var timeline: HostTimeline
    /// Whether the transport plays.
    public package(set) var isPlaying: Bool
    /// The host time at which the last start or stop takes effect.
    public package(set) var timeForIsPlaying: HostTime
    /// Whether there was at least one peer when the state was captured.
    public package(set) var isConnected: Bool

    private(set) var original: Captured
    /// Counts the sessions joined before the capture: a timeline captured in one session is foreign to the next.
    package let joinsBefore: UInt64

    /// What a commit is compared with.
    struct Captured: Hashable, Sendable, BitwiseCopyable {
        var timeline: HostTimeline
        var isPlaying: Bool
        var timeForIsPlaying: HostTime
    }

    init(_ captured: Captured, isConnected: Bool, joinsBefore: UInt64) {
        timeline = captured.timeline
        isPlaying = captured.isPlaying
        timeForIsPlaying = captured.timeForIsPlaying
        self.isConnected = isConnected
        original = captured
        self.joinsBefore = joinsBefore
    }

    /// A state that was captured nowhere, for those who need one.
    package init(timeline: HostTimeline, isConnected: Bool) {
        self.init(
            Captured(timeline: timeline, isPlaying: false, timeForIsPlaying: timeline.timeOrigin),
            isConnected: isConnected, joinsBefore: 0)
    }

    /// Whether the timeline differs from the captured one.
    package var hasTimelineChanged: Bool { timeline != original.timeline }

    /// Whether play or stop, or its time, differs from what was captured.
    package var hasStartStopChanged: Bool {
        isPlaying != original.isPlaying || timeForIsPlaying != original.timeForIsPlaying
    }

    /// The same state as if it had been captured as it is now.
    package var recaptured: SessionState {
        var state = self
        state.original = Captured(timeline: timeline, isPlaying: isPlaying, timeForIsPlaying: timeForIsPlaying)
        return state
    }

    /// This state once the changes to another have been committed, as if it had been captured then.
    package func taking(changesOf other: SessionState) -> SessionState {
        var state = self
        if other.hasTimelineChanged, other.joinsBefore == joinsBefore { state.timeline = other.timeline }
        if other.hasStartStopChanged {
            state.isPlaying = other.isPlaying
            state.timeForIsPlaying = other.timeForIsPlaying
        }
        return state.recaptured
    }

    /// The same state as if it had been made of what another was made of.
    package func changed(from earlier: SessionState) -> SessionState {
        var state = self
        state.original = earlier.original
        return state
    }
}

// Reading. Times are those at which the sound leaves the device.
extension SessionState {
    /// The session's tempo.
    public var tempo: Tempo { timeline.tempo }

    /// The beat at a time: its magnitude is private, its phase is every peer's.
    public func beat(at time: HostTime, quantum: Beats) -> Beats { timeline.shownBeats(at: time, quantum: quantum) }

    /// The position inside the shared quantum at a time.
    public func phase(at time: HostTime, quantum: Beats) -> Beats { timeline.phase(at: time, quantum: quantum) }

    /// The time at which a beat falls.
    public func time(ofBeat beat: Beats, quantum: Beats) -> HostTime {
        timeline.time(ofShown: beat, quantum: quantum)
    }
}

// Writing.
extension SessionState {
    /// Changes the tempo so that the beat at a time stays what it is.
    ///
    /// - Parameters:
    ///   - tempo: is brought into the range that Link allows.
    ///   - time: when the change takes effect.
    public mutating func setTempo(_ tempo: Tempo, at time: HostTime) {
        let changed = HostTimeline(tempo: tempo.clamped, beatOrigin: timeline.beats(at: time), timeOrigin: time)
        timeline.timeOrigin = changed.time(of: timeline.beatOrigin)
        timeline.tempo = changed.tempo
    }

    /// Asks that a beat fall at a time: exactly there when alone, else at the next time that fits the shared phase.
    public mutating func requestBeat(_ beat: Beats, at time: HostTime, quantum: Beats) {
        guard isConnected else { return forceBeat(beat, at: time, quantum: quantum) }
        let next = self.beat(at: time, quantum: quantum).nextMatch(phaseOf: beat, quantum: quantum)
        forceBeat(beat, at: self.time(ofBeat: next, quantum: quantum), quantum: quantum)
    }

    /// Makes a beat fall at a time, moving the grid of every peer if it must.
    public mutating func forceBeat(_ beat: Beats, at time: HostTime, quantum: Beats) {
        moveGrid(beat, to: time, quantum: quantum)
        // Rounding may leave the beat a microbeat late, and who waits for a downbeat would miss it: better early.
        if self.beat(at: time, quantum: quantum) > beat {
            moveGrid(beat, to: time.advanced(byMicroseconds: 1), quantum: quantum)
        }
    }

    private mutating func moveGrid(_ beat: Beats, to time: HostTime, quantum: Beats) {
        let shown = self.beat(at: time, quantum: quantum)
        let closest = shown.closestMatch(phaseOf: beat, quantum: quantum)
        let shift = timeline.time(of: .zero).microseconds(to: timeline.time(of: closest - shown))
        timeline.timeOrigin = timeline.timeOrigin.advanced(byMicroseconds: 0 &- shift)
        timeline.beatOrigin = timeline.beatOrigin + (beat - closest)
    }

    /// Plays or stops as of a time.
    public mutating func setIsPlaying(_ isPlaying: Bool, at time: HostTime) {
        self.isPlaying = isPlaying
        timeForIsPlaying = time
    }

    /// Asks that a beat fall where playing starts; without effect while stopped.
    public mutating func requestBeatAtStartPlayingTime(_ beat: Beats, quantum: Beats) {
        if isPlaying { requestBeat(beat, at: timeForIsPlaying, quantum: quantum) }
    }

    /// Plays or stops as of a time and, if it plays, asks that a beat fall there.
    public mutating func setIsPlaying(_ isPlaying: Bool, at time: HostTime, requesting beat: Beats, quantum: Beats) {
        setIsPlaying(isPlaying, at: time)
        requestBeatAtStartPlayingTime(beat, quantum: quantum)
    }

    /// Makes a time the session's beat 0, and beat 0 in private count too; the tempo stays.
    ///
    /// Alone, this turns a tick into the first beat. With peers it would move everyone's grid.
    package mutating func placeBeatZero(at time: HostTime) {
        timeline = HostTimeline(tempo: timeline.tempo, beatOrigin: .zero, timeOrigin: time)
    }
}
