import BeatTime
import ClockDispatch
import MIDIClock
import Simulation

/// Sees that machines are where the song is, one bar line after anything that excuses them.
struct StepWatch {
    /// What a machine may need until the next bar line to follow.
    private struct Circumstances: Hashable {
        var transport: PlannedTransport
        var slot: Int
        var occupant: UInt32
        var connections: UInt32
        var settings: OutputSettings
        var isEnabled: Bool
        var realigning: OutputBoard.Realigning
        var isReachable: Bool
        var hasBegun: Bool
    }

    private struct Record {
        var circumstances: Circumstances
        /// Since when the machine has been in the wrong state under them.
        var since: HostTime
        /// The length of a bar at the slowest tempo since then, in microseconds.
        var longestBar: Int64
    }

    private var records: [VirtualGateway.Receiver: Record] = [:]

    /// Time for what is sent before a machine moves, and for a Stop that is sent again, in microseconds.
    private static let grace: Int64 = 700_000

    /// Whatever machines do now, they have a bar's time to follow.
    mutating func excuseAll() { records = [:] }

    /// Takes a look at a machine that hears an output.
    ///
    /// - Parameters:
    ///   - receiver: the machine.
    ///   - machine: what it does.
    ///   - slot: the output it hears.
    ///   - board: what the clock thread is to do.
    ///   - isReachable: whether what is sent reaches it.
    ///   - now: the present time.
    /// - Returns: what is wrong; nil if nothing is.
    mutating func fault(
        of receiver: VirtualGateway.Receiver, _ machine: DrumMachine, _ slot: Int, _ board: OutputBoard,
        isReachable: Bool, at now: HostTime
    ) -> String? {
        let output = board.slots[slot]
        let (settings, transport) = (output.settings, board.transport)
        let circumstances = Circumstances(
            transport: transport, slot: slot, occupant: output.occupant, connections: output.connections,
            settings: settings, isEnabled: output.isEnabled, realigning: output.realigning, isReachable: isReachable,
            hasBegun: board.map.line.position(at: now) >= Double(transport.startTick))
        // A device that takes every third tick has bars of three; one whose tempo is folded may have half as many.
        let fold = settings.tempos == .all ? 1 : 4
        let bar = transport.ticksPerBar * board.map.line.microsecondsPerBeat / 24 * settings.divide * Int64(fold)
        let plays = transport.isPlaying && output.isEnabled && settings.start != .none
        let mayBeLeft = plays ? settings.realign == .none : !settings.sendsStop
        guard var record = records[receiver], record.circumstances == circumstances, isReachable, !mayBeLeft,
            circumstances.hasBegun || !plays, machine.isPlaying != plays
        else {
            records[receiver] = Record(circumstances: circumstances, since: now, longestBar: bar)
            return nil
        }
        record.longestBar = max(record.longestBar, bar)
        records[receiver] = record
        let time = (plays ? record.longestBar : 0) + abs(settings.offset) + Self.grace
        guard record.since.microseconds(to: now) > time else { return nil }
        return "\(receiver) \(machine.isPlaying ? "plays" : "does not play") \(time / 1_000) ms after the song has "
            + (plays ? "begun" : "stopped")
    }
}
