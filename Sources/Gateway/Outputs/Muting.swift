internal import BeatTime
internal import Essentials
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
        switch muting {
        case .on, .toggle:
            if !isMuted { rest = Rest(from: restBegin(settings, in: song).tick, until: .max) }
        case .off(let bars):
            enter(at: firstEntry(settings, in: song) + Int64(bars) * song.ticksPerBar, settings, in: song)
        }
    }

    /// Makes it what it was at an earlier time in the same song; what would have passed since comes at the next bar.
    ///
    /// - Parameters:
    ///   - before: what it was.
    ///   - settings: of the output.
    ///   - song: where the song is.
    mutating func restore(_ before: Muted, _ settings: OutputSettings, in song: SongPlace) {
        if before.isMuted {
            take(.on, settings, in: song)
        } else {
            enter(at: before.rest == .none ? 0 : before.rest.until, settings, in: song)
        }
    }

    /// Has the device enter at a tick, or at the first bar where it can.
    private mutating func enter(at tick: Int64, _ settings: OutputSettings, in song: SongPlace) {
        let first = firstEntry(settings, in: song)
        let until = max(first, tick)
        let (from, rests) = restBegin(settings, in: song)
        // Where it has not been stopped yet, it plays on.
        rest = until > 0 && (rests || until > first) ? Rest(from: from, until: until) : .none
    }

    /// The first bar at which the device can enter, as a tick; 0 while no song plays.
    private func firstEntry(_ settings: OutputSettings, in song: SongPlace) -> Int64 {
        song.nextBar(after: settings.reach(microsecondsPerBeat: song.microsecondsPerBeat)) ?? 0
    }

    /// The tick at which a rest would begin, and whether the device rests already.
    private func restBegin(_ settings: OutputSettings, in song: SongPlace) -> (tick: Int64, rests: Bool) {
        let gap = song.microsecondsPerBeat / TickLine.ticksPerBeat
        let next = song.nextBar(after: gap - settings.offset)
        // A device that can no longer be kept from stopping is taken for one that rests.
        let rests =
            song.tick.map { tick in
                let tick = Int64(tick.rounded(.down))
                return rest.contains(next.map { $0 > rest.from } == true ? max(tick, rest.from) : tick)
            } ?? (rest.from == .min)
        return (rests ? rest.from : next.flatMap { $0 > 0 ? $0 : nil } ?? .min, rests)
    }

    /// What the device does, to be followed by `again`; one that can enter at the next bar plays.
    func words(in song: SongPlace) -> String {
        if isMuted { return "muted" }
        guard rest != .none, rest.until > song.nextBar(after: 0) ?? 0 else { return "playing" }
        let bars = Double(rest.until) / Double(song.ticksPerBar)
        return "enters after \(shortest(bars, atMost: 2)) bar\(bars == 1 ? "" : "s") of the song"
    }

    /// Keeps the rest in a song that has moved a little, and forgets it for another one; a muted device rests in all of that.
    mutating func songMoved(isSame: Bool) {
        if !isSame { rest = isMuted ? .all : .none }
    }

    /// At which beat of the song it will be stopped, or enter; while none plays, of the next one.
    ///
    /// - Parameters:
    ///   - song: the present one.
    ///   - position: the present tick, on the ticks by which the song is counted.
    /// - Returns: nil if no such beat is ahead.
    func change(in song: PlannedTransport, at position: Double) -> Double? {
        let tick = song.isPlaying ? position - Double(song.startTick) : 0
        let next = [rest.from, rest.until].filter { $0 != .max && Double($0) > tick }.min()
        return next.map { Double($0) / Double(TickLine.ticksPerBeat) }
    }
}
