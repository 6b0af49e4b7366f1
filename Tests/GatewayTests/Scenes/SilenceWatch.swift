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
        /// The longest distance of two ticks by the tempos used since then, in microseconds.
        var longestGap: Int64
        /// When the last tick arrived, also under other circumstances, and how often the tempo had changed by then; nil
        /// if none has arrived.
        var lastTick: (time: HostTime, tempoChanges: UInt32)?
    }

    private var records: [VirtualGateway.Receiver: Record] = [:]
    /// The number of tempo changes by the newest board, and when the last of them was noticed.
    private var tempoChanges: UInt32?
    private var tempoNoticed = HostTime(microseconds: .min / 2)

    /// How late the output thread may wake and send, in microseconds.
    private static let lateness: Int64 = 1_000

    /// Begins the wait for a tick anew for all machines.
    mutating func excuseAll() { records = [:] }

    /// Forgets the machines that are no longer connected.
    mutating func keepOnly(_ receivers: Set<VirtualGateway.Receiver>) {
        records = records.filter { receivers.contains($0.key) }
    }

    /// Notes the board that the output thread is about to use.
    mutating func take(_ board: OutputBoard, at now: HostTime) {
        if let tempoChanges, tempoChanges != board.map.tempoChanges { tempoNoticed = now }
        tempoChanges = board.map.tempoChanges
    }

    /// Notes that a machine has received a tick.
    ///
    /// - Parameters:
    ///   - receiver: the machine.
    ///   - slot: the slot of its output.
    ///   - board: the board that the output thread uses.
    ///   - time: when it received the tick.
    mutating func ticked(_ receiver: VirtualGateway.Receiver, _ slot: Int, _ board: OutputBoard, at time: HostTime) {
        guard var record = records[receiver] else { return }
        let gap = Self.gap(board.slots[slot].settings, board.map, at: time)
        (record.since, record.longestGap) = (time, gap)
        record.lastTick = (time, board.map.tempoChanges)
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
        let gap = Self.gap(settings, board.map, at: now)
        guard var record = records[receiver], record.circumstances == circumstances, circumstances.isExpected else {
            records[receiver] = Record(
                circumstances: circumstances, since: now, longestGap: gap, lastTick: records[receiver]?.lastTick)
            return nil
        }
        record.longestGap = max(record.longestGap, gap)
        records[receiver] = record
        // A tick may be late by the planner's catch-up limit.
        let limit = PulseTrain.catchUpLimit(gap: record.longestGap) + record.longestGap + Self.lateness
        let silence = record.since.microseconds(to: now)
        guard silence > limit, !isAhead(record, now) else { return nil }
        records[receiver] = nil
        return "\(receiver) has heard no tick for \(silence / 1_000) ms"
    }

    /// Whether a machine may have been sent ticks ahead of the session, and wait for it.
    ///
    /// After a change of tempo that is noticed late, it may be up to seven ticks ahead, see `TickPlanner.follow`. That
    /// ends with the first tick by the new tempo, but not with a change of settings, such as the offset.
    private func isAhead(_ record: Record, _ now: HostTime) -> Bool {
        let offset = record.circumstances.output.settings.offset
        // An output that sends late uses the new tempo later.
        let change = offset > 0 ? tempoNoticed.advanced(byMicroseconds: offset + Self.lateness) : tempoNoticed
        if let tick = record.lastTick, tick.tempoChanges == tempoChanges, tick.time >= change { return false }
        // Seven ticks, and the one that follows them.
        let longest = max(0, offset) + 8 * record.longestGap + Self.lateness
        return tempoNoticed.microseconds(to: now) <= longest
    }

    /// Longest distance of two ticks that an output sends from a time on, in microseconds.
    ///
    /// An output that sends late keeps to former tempos until the present one has reached it.
    private static func gap(_ settings: OutputSettings, _ map: TempoMap, at time: HostTime) -> Int64 {
        let newest = Double(map.line.microsecondsPerBeat)
        var (beat, longest, number) = (newest, newest, map.tempoChanges)
        while let change = map.tempoChange(number), change.at.advanced(byMicroseconds: settings.offset) > time {
            beat *= 1 + change.stretch
            longest = max(longest, beat)
            number &-= 1
        }
        // An output may send fewer ticks than `multiply` asks for. A folded tempo may be up to four times slower.
        let fold: Int64 = settings.tempos == .all ? 1 : 4
        return Int64(longest.rounded(.up)) * settings.divide * fold / 24 * settings.swing / 500
    }
}
