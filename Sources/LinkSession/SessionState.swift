public import BeatTime

/// A captured state of a session's timeline and transport: read it, change it, commit it.
///
/// A plain value. Changes have no effect until committed, and a commit carries only what differs from the captured
/// state.
///
/// ```swift
/// let peer = try LinkPeer(tempo: Tempo(beatsPerMinute: 120))
/// var state = peer.capture()
/// state.setTempo(Tempo(beatsPerMinute: 128), at: .now())
/// peer.commit(state)
/// assert(peer.capture().tempo.beatsPerMinute == 128)
/// ```
public struct SessionState: Hashable, Sendable, BitwiseCopyable {
    /// The timeline in host time; its time origin is the host time of the session's beat 0.
    public package(set) var timeline: HostTimeline
    /// Whether the transport plays.
    public package(set) var isPlaying: Bool
    /// The host time at which the last start or stop takes effect.
    public package(set) var timeForIsPlaying: HostTime
    /// Whether there was at least one peer when the state was captured.
    public let isConnected: Bool

    private(set) var original: Captured
    /// Number of sessions joined before the capture; a timeline is meaningless in another session.
    package let joinsBefore: UInt64

    /// The captured values that a commit is compared with.
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

    /// A state that was not captured, for tests of the arithmetic.
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

    /// The same state, with the present values as the captured ones.
    package var recaptured: SessionState {
        var state = self
        state.original = Captured(timeline: timeline, isPlaying: isPlaying, timeForIsPlaying: timeForIsPlaying)
        return state
    }

    /// This state with the changes made to another captured state, except a timeline of another session.
    package func taking(changesOf other: SessionState) -> SessionState {
        var state = self
        if other.hasTimelineChanged, other.joinsBefore == joinsBefore { state.timeline = other.timeline }
        if other.hasStartStopChanged {
            state.isPlaying = other.isPlaying
            state.timeForIsPlaying = other.timeForIsPlaying
        }
        return state.recaptured
    }

    /// The same state, with another state's captured values.
    package func changed(from earlier: SessionState) -> SessionState {
        var state = self
        state.original = earlier.original
        return state
    }
}

// Reading. Here and below, a time is when something is heard; a program adds its output latency to the present time.
extension SessionState {
    /// The session's tempo.
    public var tempo: Tempo { timeline.tempo }

    /// The beat at a time; its value is private, its phase is shared by all peers.
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
    /// Changes the tempo and keeps the beat at a time.
    ///
    /// - Parameters:
    ///   - tempo: clamped to Link's range.
    ///   - time: the beat at this time stays; the tempo itself changes at the commit, for all times.
    public mutating func setTempo(_ tempo: Tempo, at time: HostTime) {
        let changed = HostTimeline(tempo: tempo.clamped, beatOrigin: timeline.beats(at: time), timeOrigin: time)
        timeline.timeOrigin = changed.time(of: timeline.beatOrigin)
        timeline.tempo = changed.tempo
    }

    /// Moves a beat to a time; with peers, to the next time that has the beat's phase on the shared grid.
    public mutating func requestBeat(_ beat: Beats, at time: HostTime, quantum: Beats) {
        guard isConnected else { return forceBeat(beat, at: time, quantum: quantum) }
        let next = self.beat(at: time, quantum: quantum).nextMatch(phaseOf: beat, quantum: quantum)
        forceBeat(beat, at: self.time(ofBeat: next, quantum: quantum), quantum: quantum)
    }

    /// Moves a beat to a time, at most a microsecond late, even if that moves all peers' grid.
    public mutating func forceBeat(_ beat: Beats, at time: HostTime, quantum: Beats) {
        moveGrid(beat, to: time, quantum: quantum)
        // Rounding may put the beat a microsecond or two before `time`, where a program waiting for a downbeat would miss
        // it. Better a microsecond late.
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

    /// Starts or stops at a time.
    public mutating func setIsPlaying(_ isPlaying: Bool, at time: HostTime) {
        self.isPlaying = isPlaying
        timeForIsPlaying = time
    }

    /// Moves a beat to the time at which playing starts; no effect while stopped.
    public mutating func requestBeatAtStartPlayingTime(_ beat: Beats, quantum: Beats) {
        if isPlaying { requestBeat(beat, at: timeForIsPlaying, quantum: quantum) }
    }

    /// Starts or stops at a time and, if it plays, moves a beat there.
    public mutating func setIsPlaying(_ isPlaying: Bool, at time: HostTime, requesting beat: Beats, quantum: Beats) {
        setIsPlaying(isPlaying, at: time)
        requestBeatAtStartPlayingTime(beat, quantum: quantum)
    }

    /// Makes a time the session's beat 0, also in this machine's own count; the tempo stays.
    ///
    /// Alone, this turns a tick into the first beat. With peers it would move everyone's grid.
    package mutating func placeBeatZero(at time: HostTime) {
        timeline = HostTimeline(tempo: timeline.tempo, beatOrigin: .zero, timeOrigin: time)
    }
}
