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

/// Whether an output's device plays with the others, and from when to when it does not.
struct Muted: Hashable, Sendable {
    private(set) var rest = Rest.none

    /// Whether it stays stopped until asked to enter.
    var isMuted: Bool { rest != .none && rest.until == .max }

    /// Changes it at a bar.
    ///
    /// - Parameters:
    ///   - muting: what is asked; not a toggle.
    ///   - settings: of the output.
    ///   - song: where the song is.
    mutating func take(_ muting: Muting, _ settings: OutputSettings, in song: SongPlace) {
        let gap = song.microsecondsPerBeat / TickLine.ticksPerBeat
        let next = song.nextBar(after: gap - settings.offset)
        // A device that can no longer be kept from stopping is taken for one that rests.
        let rests =
            song.tick.map { tick in
                let tick = Int64(tick.rounded(.down))
                return rest.contains(next.map { $0 > rest.from } == true ? max(tick, rest.from) : tick)
            } ?? (rest.from == .min)
        let from = rests ? rest.from : next.flatMap { $0 > 0 ? $0 : nil } ?? .min
        switch muting {
        case .on, .toggle:
            if !isMuted { rest = Rest(from: from, until: .max) }
        case .off(let bars):
            let entering = song.nextBar(after: settings.reach(microsecondsPerBeat: song.microsecondsPerBeat)) ?? 0
            let until = entering + Int64(bars) * song.ticksPerBar
            // Where it has not been stopped yet, it plays on.
            rest = until > 0 && (rests || bars > 0) ? Rest(from: from, until: until) : .none
        }
    }

    /// Keeps the rest in a song that has moved a little, and forgets it for another one; a muted device rests in all of that.
    mutating func songMoved(isSame: Bool) {
        if !isSame { rest = isMuted ? .all : .none }
    }

    /// At which beat of the song it will be stopped, or enter.
    ///
    /// - Parameters:
    ///   - song: the present one.
    ///   - position: the present tick, on the ticks by which the song is counted.
    /// - Returns: nil if no such beat is ahead, or while no song plays.
    func change(in song: PlannedTransport, at position: Double) -> Double? {
        guard song.isPlaying else { return nil }
        let tick = position - Double(song.startTick)
        let next = [rest.from, rest.until].filter { $0 != .max && Double($0) > tick }.min()
        return next.map { Double($0) / Double(TickLine.ticksPerBeat) }
    }
}
