import BeatTime
import MIDIClock

@testable import ClockDispatch

/// Checks that no tick of an output is skipped or repeated without a reason.
struct TickWatch {
    /// A change of any of these allows the next tick to have any number.
    private struct Circumstances: Hashable {
        var occupant: UInt32
        var connections: UInt32
        var sink: Sink
        var isEnabled: Bool
        var settings: OutputSettings
        /// Counts jumps of the song position, for example on joining a session.
        var jumps: UInt32
        /// By how much the session's beats have moved, in total; a large move is treated as a jump.
        var glides: Int64
        /// Counts tempo changes.
        ///
        /// One that arrives late can leave more ticks overdue than may be sent late.
        var tempoChanges: UInt32

        init(of slot: Int, on board: OutputBoard) {
            (jumps, glides, tempoChanges) = (board.map.jumps, board.map.glides, board.map.tempoChanges)
            let slot = board.slots[slot]
            (occupant, connections, sink) = (slot.occupant, slot.connections, slot.sink)
            (isEnabled, settings) = (slot.isEnabled, slot.settings)
        }
    }

    /// How often a tick was skipped or repeated, with or without a reason.
    private(set) var breaks = 0
    private var records: [Int: Record] = [:]

    /// The last tick of an output.
    private struct Record {
        var tick: Int64
        var circumstances: Circumstances
        /// Whether the circumstances have changed since, even if they have changed back.
        var isExcused = false
    }

    /// Allows the next tick of every output to have any number.
    mutating func excuseAll() { records = [:] }

    /// Notes the board that the clock thread uses now.
    mutating func take(_ board: OutputBoard) {
        for slot in records.keys where slot < board.count && !records[slot]!.isExcused {  // keys have values
            records[slot]!.isExcused = records[slot]!.circumstances != Circumstances(of: slot, on: board)
        }
    }

    /// Checks a message that is being sent.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - board: the board that the clock thread uses.
    /// - Returns: what is wrong; nil if nothing is.
    mutating func fault(of message: ScheduledMessage, on board: OutputBoard) -> String? {
        guard let planned = message.planned, planned.message == .timingClock else { return nil }
        let slot = board.slots[message.slot]
        let circumstances = Circumstances(of: message.slot, on: board)
        let tick = planned.place.tick
        defer { records[message.slot] = Record(tick: tick, circumstances: circumstances) }
        guard let last = records[message.slot], last.circumstances.occupant == slot.occupant,
            slot.settings.multiply == 1, slot.settings.divide == 1, slot.settings.tempos == .all, tick != last.tick + 1
        else { return nil }
        breaks += 1
        guard !last.isExcused, last.circumstances == circumstances else { return nil }
        return "tick \(tick) of output \(message.slot) follows tick \(last.tick)"
    }
}
