public import BeatTime
public import LinkSession
internal import MIDIClock

/// A change of the session that the user asks for, to be made on the newest session state there is.
///
/// It runs where the Link engine runs and is committed at once, so it can never carry an old tempo into a session
/// that was joined meanwhile.
public enum SessionEdit: Hashable, Sendable {
    case setTempo(Tempo)
    case play
    case stop
    /// Counts the beats shown from the song's top, at the time given; no other peer notices.
    case countFrom(top: HostTime)

    /// How long after a play command the song may start at the earliest, in microseconds.
    ///
    /// Enough for the news to reach the output thread and for Start to leave ahead of its tick.
    static let reach: Int64 = 12_000

    /// Makes the change.
    ///
    /// - Parameters:
    ///   - state: the newest session state, about to be committed.
    ///   - now: the present host time.
    public func apply(to state: inout SessionState, at now: HostTime) {
        switch self {
        case .setTempo(let tempo):
            state.setTempo(tempo, at: now)
        case .play:
            guard !state.isPlaying else { return }
            state.setIsPlaying(true, at: Self.startTime(of: &state, at: now))
        case .stop:
            guard state.isPlaying else { return }
            state.setIsPlaying(false, at: now)
        case .countFrom(let top):
            let grid = state.timeline.beats(at: top) - state.timeline.beatOrigin
            state.timeline.beatOrigin = .zero - grid
        }
    }

    /// The time that play is asked for.
    ///
    /// With peers the song starts at the quantum, which everyone works out from that time. Alone the next tick
    /// becomes beat 0: the beats are renamed, no tick moves.
    private static func startTime(of state: inout SessionState, at now: HostTime) -> HostTime {
        let earliest = now.advanced(byMicroseconds: reach)
        guard !state.isConnected else { return earliest }
        let line = TickLine(state.timeline, tickOrigin: 0)
        let top = line.time(ofTick: line.firstTick(atOrAfter: earliest))
        state.placeBeatZero(at: top)
        return top
    }
}

extension TickLine {
    /// The ticks of a client timeline, whose time origin is a beat.
    init(_ timeline: HostTimeline, tickOrigin: Int64) {
        self.init(
            microsecondsPerBeat: timeline.tempo.microsecondsPerBeat, timeOrigin: timeline.timeOrigin,
            tickOrigin: tickOrigin)
    }
}
