import BeatTime
import ClockDispatch

@testable import MIDIClock

/// Checks that a machine that should get the clock is never left without it.
struct SilenceWatch {
    /// A change of any of these begins the wait for a tick anew.
    private struct Circumstances: Hashable {
        var output: OutputCircumstances
        /// Whether messages reach the machine, and its output sends ticks.
        var isExpected: Bool
    }

    private struct Record {
        var circumstances: Circumstances
        /// When the last tick arrived, or when the circumstances last changed.
        var since: HostTime
        /// The longest distance of two ticks since then, in microseconds.
        var longestGap: Int64
        /// That distance, and the number of tempo changes, by the newest board.
        var (gap, tempoChanges): (Int64, UInt32)
        /// When the machine's ticks take the newest tempo, if no tick has come since.
        var newTempo: HostTime?
    }

    private var records: [VirtualGateway.Receiver: Record] = [:]

    /// How late the output thread may wake and send, in microseconds.
    private static let lateness: Int64 = 1_000

    /// Begins the wait for a tick anew for all machines.
    mutating func excuseAll() { records = [:] }

    /// Forgets the machines that are no longer connected.
    mutating func keepOnly(_ receivers: Set<VirtualGateway.Receiver>) {
        records = records.filter { receivers.contains($0.key) }
    }

    /// Notes that a machine has received a tick.
    mutating func ticked(_ receiver: VirtualGateway.Receiver, at time: HostTime) {
        guard var record = records[receiver] else { return }
        (record.since, record.longestGap) = (time, record.gap)
        if let change = record.newTempo, change <= time { record.newTempo = nil }
        records[receiver] = record
    }

    /// Checks one machine that is connected to an output, before the output thread's turn reaches it.
    ///
    /// - Parameters:
    ///   - receiver: the machine.
    ///   - isPlaying: whether it plays.
    ///   - slot: the slot of its output.
    ///   - board: the board that the output thread uses.
    ///   - isReachable: whether messages reach it.
    ///   - now: the current time.
    /// - Returns: what is wrong; nil if nothing is.
    mutating func fault(
        of receiver: VirtualGateway.Receiver, isPlaying: Bool, _ slot: Int, _ board: OutputBoard, isReachable: Bool,
        at now: HostTime
    ) -> String? {
        let output = board.slots[slot]
        let settings = output.settings
        // Without a song, such an output is silent until some ticks before the machine's Start.
        let hasClock = settings.isClockAlwaysOn || board.transport.isPlaying && isPlaying
        let circumstances = Circumstances(
            output: OutputCircumstances(of: slot, on: board), isExpected: isReachable && output.isEnabled && hasClock)
        let gap = Self.gap(settings, board.map.line)
        guard var record = records[receiver], record.circumstances == circumstances, circumstances.isExpected else {
            records[receiver] = Record(
                circumstances: circumstances, since: now, longestGap: gap, gap: gap,
                tempoChanges: board.map.tempoChanges)
            return nil
        }
        if record.tempoChanges != board.map.tempoChanges {
            record.newTempo = now.advanced(byMicroseconds: settings.offset)
        }
        (record.gap, record.tempoChanges) = (gap, board.map.tempoChanges)
        record.longestGap = max(record.longestGap, gap)
        records[receiver] = record
        // A tick may be late by the planner's catch-up limit. After a change of tempo that is noticed
        // late, it may be up to seven ticks ahead and wait for the session, see `TickPlanner.follow`.
        let limit = PulseTrain.catchUpLimit(gap: record.longestGap)
        let time = max(limit, record.newTempo != nil ? 7 * record.longestGap : 0) + record.longestGap + Self.lateness
        let silence = record.since.microseconds(to: now)
        guard silence > time else { return nil }
        records[receiver] = nil
        return "\(receiver) has heard no tick for \(silence / 1_000) ms"
    }

    /// Longest distance of two ticks, in microseconds.
    private static func gap(_ settings: OutputSettings, _ line: TickLine) -> Int64 {
        // An output may send fewer ticks than `multiply` asks for. A folded tempo may be up to four times slower.
        let fold: Int64 = settings.tempos == .all ? 1 : 4
        return line.microsecondsPerBeat * settings.divide * fold / 24 * settings.swing / 500
    }
}
