internal import BeatTime
internal import MIDIClock

/// What is asked of a device that is not to play all the time.
package enum Muting: Hashable, Sendable {
    /// It is stopped at the next bar, and stays so in songs that follow; its clock goes on.
    case on
    /// It enters at the next bar, or so many bars after it; until then it does not play.
    case off(afterBars: Int)
    /// Mutes those that are not muted; if all are, they enter at the next bar.
    case toggle
}

/// Where the song is, for what happens at its bars.
struct SongPlace {
    /// The present tick, counted from the song's beat 0, negative before it begins; nil while no song plays.
    var tick: Double?
    var ticksPerBar: Int64
    var microsecondsPerBeat: Int64
    /// Microseconds until a change that is made now has reached the output thread, and what is in the queue has left it.
    var delay: Int64

    /// The first bar before which a device can be sent something.
    ///
    /// - Parameter lead: how many microseconds before the bar the device must be sent it.
    /// - Returns: its tick, at least 0; nil while no song plays.
    func nextBar(after lead: Int64) -> Int64? {
        guard let tick else { return nil }
        let earliest = tick + Double((delay + lead) * TickLine.ticksPerBeat) / Double(microsecondsPerBeat)
        return max(0, Int64((earliest / Double(ticksPerBar)).rounded(.up)) * ticksPerBar)
    }
}

/// Whether an output's device plays with the others, and from when to when it does not.
struct Muted: Hashable, Sendable {
    /// Whether it stays stopped until asked to enter.
    private(set) var isMuted = false
    private(set) var rest = Rest.none

    /// Changes it at a bar.
    ///
    /// - Parameters:
    ///   - muting: what is asked; not a toggle.
    ///   - settings: of the output.
    ///   - song: where the song is.
    mutating func take(_ muting: Muting, _ settings: OutputSettings, in song: SongPlace) {
        let rests = song.tick.map { rest.contains(Int64($0.rounded(.down))) } ?? (rest.from == .min)
        let gap = song.microsecondsPerBeat / TickLine.ticksPerBeat
        let stopping = song.nextBar(after: gap - settings.offset).flatMap { $0 > 0 ? $0 : nil } ?? .min
        let from = rests ? rest.from : stopping
        switch muting {
        case .on, .toggle:
            isMuted = true
            rest = Rest(from: from, until: .max)
        case .off(let bars):
            isMuted = false
            let entering = song.nextBar(after: settings.reach(microsecondsPerBeat: song.microsecondsPerBeat)) ?? 0
            let until = entering + Int64(bars) * song.ticksPerBar
            // Where it has not been stopped yet, it plays on.
            rest = rests || bars > 0 ? Rest(from: from, until: until) : .none
            if until == 0 { rest = .none }
        }
    }

    /// Notes that the song has moved a little, or that another one plays, or none: its bars are counted anew.
    mutating func songMoved(isSame: Bool) {
        if isMuted { rest = isSame ? rest : .all } else if !isSame { rest = .none }
    }

    /// The beat of the song from which it plays or rests, if that was asked for; nil while no song plays.
    func changes(in song: PlannedTransport) -> Double? {
        guard song.isPlaying, rest != .none else { return nil }
        let tick = isMuted ? rest.from : rest.until
        return tick == .min ? nil : Double(tick) / Double(TickLine.ticksPerBeat)
    }
}
