import BeatTime
import ClockDispatch
import MIDIClock
import Simulation

/// Counts the ticks of machines over stretches of time in which nobody does anything.
///
/// Every machine must get each tick of the session once. ``TickWatch`` compares the numbers that the planner gives to
/// ticks; this needs only what has arrived, and so judges lines, too. It counts up to the last tick that has arrived:
/// whether ticks still come is up to ``SilenceWatch``.
struct TickAccount {
    /// How many stretches have been judged, of one machine each.
    private(set) var stretches = 0
    /// How many ticks have arrived in them.
    private(set) var ticks = 0
    private var marks: [Machine: Mark] = [:]

    private struct Machine: Hashable {
        var node: Int
        var receiver: VirtualGateway.Receiver
    }

    /// A change of any of these allows a machine any number of ticks.
    private struct Circumstances: Hashable {
        var output: OutputCircumstances
        var transport: PlannedTransport
        var tempoChanges: UInt32
        var steps: UInt32
    }

    private struct Mark {
        var circumstances: Circumstances
        /// How many ticks have arrived.
        var count: Int
        /// The number of the last of them, by its time.
        var number: Int64
    }

    /// Begins a stretch.
    mutating func open(_ nodes: [VirtualGateway]) { marks = Self.marks(nodes) }

    /// Ends the stretch.
    ///
    /// - Parameter nodes: the gateways.
    /// - Returns: what is wrong; nil if nothing is.
    mutating func close(_ nodes: [VirtualGateway]) -> String? {
        var fault: String?
        for (machine, end) in Self.marks(nodes) {
            guard let start = marks[machine], start.circumstances == end.circumstances else { continue }
            let (count, due) = (end.count - start.count, end.number - start.number)
            // The number of a tick of long ago is a guess: the line has been corrected since.
            guard count > 0 else { continue }
            stretches += 1
            ticks += count
            guard Int64(count) != due else { continue }
            fault = "\(machine.receiver) of node \(machine.node) has got \(count) of \(due) ticks"
        }
        return fault
    }

    private static func marks(_ nodes: [VirtualGateway]) -> [Machine: Mark] {
        var marks: [Machine: Mark] = [:]
        for (node, gateway) in nodes.enumerated() {
            let board = gateway.outputThread.board
            for (receiver, slot) in gateway.receivers(on: board) where gateway.isReachable(receiver) {
                guard let mark = mark(gateway.machines[receiver], slot, board) else { continue }
                marks[Machine(node: node, receiver: receiver)] = mark
            }
        }
        return marks
    }

    private static func mark(_ machine: DrumMachine?, _ slot: Int, _ board: OutputBoard) -> Mark? {
        let (settings, map) = (board.slots[slot].settings, board.map)
        // Others have ticks of their own.
        guard settings.multiply == 1, settings.divide == 1, settings.swing == 500, settings.tempos == .all, let machine,
            let last = machine.events.last(where: { $0.message == .timingClock })
        else { return nil }
        return Mark(
            circumstances: Circumstances(
                output: OutputCircumstances(of: slot, on: board), transport: board.transport,
                tempoChanges: map.tempoChanges, steps: map.steps),
            count: machine.tickCount,
            number: map.line.nearestTick(to: HostTime(microseconds: last.at - settings.offset)))
    }
}
