package import BeatTime
package import LinkSession
internal import MIDIClock

/// A change of the session by the user, to be made on the newest session state.
///
/// It runs where the Link engine runs and is committed at once. It can therefore never carry an old tempo into a
/// session that was joined meanwhile.
package enum SessionEdit: Hashable, Sendable {
    case setTempo(Tempo)
    /// Plays, from the first place at least this many microseconds away, so that all outputs can reach it.
    case play(reach: Int64)
    case stop
    /// Continues where a MIDI clock leader is; only for a peer that is alone, with Link off.
    case goOn(HostTimeline, playingSince: HostTime?)
    /// Makes the start of the song beat 0 of our shown beats; other peers do not notice.
    case countFrom(top: HostTime)

    /// Longest time until a change reaches the output thread, in microseconds.
    package static let propagationTime: Int64 = 4_000

    /// Makes the change.
    ///
    /// - Parameters:
    ///   - state: the newest session state, about to be committed.
    ///   - now: the present host time.
    package func apply(to state: inout SessionState, at now: HostTime) {
        switch self {
        case .setTempo(let tempo):
            state.setTempo(tempo, at: now)
        case .play(let reach):
            guard !state.isPlaying else { return }
            state.setIsPlaying(true, at: Self.startTime(of: &state, notBefore: now.advanced(byMicroseconds: reach)))
        case .stop:
            guard state.isPlaying else { return }
            state.setIsPlaying(false, at: now)
        case .goOn(let timeline, let playingSince):
            guard !state.isConnected else { return }
            state.timeline = timeline
            if let playingSince {
                guard !state.isPlaying || state.timeForIsPlaying != playingSince else { return }
                state.setIsPlaying(true, at: playingSince)
            } else if state.isPlaying {
                state.setIsPlaying(false, at: now)
            }
        case .countFrom(let top):
            let grid = state.timeline.beats(at: top) - state.timeline.beatOrigin
            state.timeline.beatOrigin = .zero - grid
        }
    }

    /// The time to ask for when playing starts.
    ///
    /// With peers the song starts at the quantum, which everyone derives from that time. Alone the next tick becomes
    /// beat 0: beats are renumbered, and no tick moves.
    private static func startTime(of state: inout SessionState, notBefore earliest: HostTime) -> HostTime {
        guard !state.isConnected else { return earliest }
        let line = TickLine(state.timeline, tickOrigin: 0)
        let top = line.time(ofTick: line.firstTick(atOrAfter: earliest))
        state.placeBeatZero(at: top)
        return top
    }
}

extension TickLine {
    /// The ticks of a client timeline; its time origin is a beat.
    init(_ timeline: HostTimeline, tickOrigin: Int64) {
        self.init(
            microsecondsPerBeat: timeline.tempo.microsecondsPerBeat, timeOrigin: timeline.timeOrigin,
            tickOrigin: tickOrigin)
    }
}
