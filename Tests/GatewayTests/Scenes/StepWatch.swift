import BeatTime
import ClockDispatch
import MIDIClock
import Simulation

/// Checks that machines play and stop with the song.
///
/// After a change of circumstances, a machine has time until the next bar line.
struct StepWatch {
    /// A change of any of these gives a machine time until the next bar line.
    private struct Circumstances: Hashable {
        var transport: PlannedTransport
        var output: OutputCircumstances
        var realigning: OutputBoard.Realigning
        var isReachable: Bool
        var hasBegun: Bool
        var rests: Bool
    }

    private struct Record {
        var circumstances: Circumstances
        /// When the machine was last seen in the right state, or when the circumstances last changed.
        var since: HostTime
        /// The longest bar since then, in microseconds.
        var longestBar: Int64
    }

    private var records: [VirtualGateway.Receiver: Record] = [:]

    /// Extra time in microseconds, for the messages sent before Start and for a Stop that is repeated.
    private static let grace: Int64 = 700_000

    /// Gives all machines time until the next bar line.
    mutating func excuseAll() { records = [:] }

    /// Checks one machine that is connected to an output.
    ///
    /// - Parameters:
    ///   - receiver: the machine.
    ///   - machine: its state.
    ///   - slot: the slot of its output.
    ///   - board: the board that the output thread uses.
    ///   - isReachable: whether messages reach it.
    ///   - now: the current time.
    /// - Returns: what is wrong; nil if nothing is.
    mutating func fault(
        of receiver: VirtualGateway.Receiver, _ machine: DrumMachine, _ slot: Int, _ board: OutputBoard,
        isReachable: Bool, at now: HostTime
    ) -> String? {
        let output = board.slots[slot]
        let (settings, transport) = (output.settings, board.transport)
        let place = board.map.line.position(at: now) - Double(transport.startTick)
        let circumstances = Circumstances(
            transport: transport, output: OutputCircumstances(of: slot, on: board), realigning: output.realigning,
            isReachable: isReachable,
            hasBegun: place >= 0, rests: output.rest.contains(Int64(place.rounded(.down))))
        // With `divide: 3` a bar takes three times as long; a folded tempo may make it up to four times as long.
        let fold = settings.tempos == .all ? 1 : 4
        let bar = transport.ticksPerBar * board.map.line.microsecondsPerBeat / 24 * settings.divide * Int64(fold)
        let plays = transport.isPlaying && output.isEnabled && settings.start != .none && !circumstances.rests
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
