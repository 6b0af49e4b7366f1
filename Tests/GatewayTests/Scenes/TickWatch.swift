import BeatTime
import MIDIClock

@testable import ClockDispatch

/// Sees that no tick of an output is left out or sent twice, unless something forces it.
struct TickWatch {
    /// What allows the next tick to have any number, when it has changed.
    private struct Circumstances: Hashable {
        var occupant: UInt32
        var connections: UInt32
        var sink: Sink
        var isEnabled: Bool
        var settings: OutputSettings
        /// Counts the times that the song has gone to another place, as for a session that was joined.
        var jumps: UInt32
        /// By how much the session's beats have moved; too far to glide after is a jump.
        var glides: Int64
        /// One that is told late can leave more ticks behind than may be caught up.
        var tempoChanges: UInt32
    }

    /// How often a number was left out or repeated, whether or not something forced it.
    private(set) var breaks = 0
    private var records: [Int: (tick: Int64, Circumstances)] = [:]

    /// What comes next is forced for all outputs.
    mutating func excuseAll() { records = [:] }

    /// Takes a message that leaves.
    ///
    /// - Parameters:
    ///   - message: what leaves.
    ///   - board: what the clock thread is to do.
    /// - Returns: what is wrong; nil if nothing is.
    mutating func fault(of message: ScheduledMessage, on board: OutputBoard) -> String? {
        guard let planned = message.planned, planned.message == .timingClock else { return nil }
        let slot = board.slots[message.slot]
        let circumstances = Circumstances(
            occupant: slot.occupant, connections: slot.connections, sink: slot.sink, isEnabled: slot.isEnabled,
            settings: slot.settings, jumps: board.map.jumps, glides: board.map.glides,
            tempoChanges: board.map.tempoChanges)
        let tick = planned.place.tick
        defer { records[message.slot] = (tick, circumstances) }
        guard let (last, before) = records[message.slot], before.occupant == circumstances.occupant,
            slot.settings.multiply == 1, slot.settings.divide == 1, slot.settings.tempos == .all, tick != last + 1
        else { return nil }
        breaks += 1
        guard before == circumstances else { return nil }
        return "tick \(tick) of output \(message.slot) follows tick \(last)"
    }
}
