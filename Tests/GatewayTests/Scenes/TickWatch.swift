import MIDIClock

@testable import ClockDispatch

/// Sees that no tick of an output is left out or sent twice.
struct TickWatch {
    private struct Record {
        var tick: Int64
        var occupant: UInt32
        var connections: UInt32
        var settings: OutputSettings
    }

    /// How often a number was left out or repeated, whether or not something excuses it.
    private(set) var breaks = 0
    private var records: [Int: Record] = [:]

    /// A fault forces the next ticks of all outputs to be left out.
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
        let tick = planned.place.tick
        let record = Record(
            tick: tick, occupant: slot.occupant, connections: slot.connections, settings: slot.settings)
        defer { records[message.slot] = record }
        guard let last = records[message.slot], last.occupant == record.occupant, record.settings.multiply == 1,
            record.settings.divide == 1, tick != last.tick + 1
        else { return nil }
        breaks += 1
        return nil
    }
}
