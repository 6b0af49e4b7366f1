import BeatTime

@testable import ClockDispatch
@testable import MIDIClock

/// Checks that no tick of an output is skipped or repeated without a reason.
struct TickWatch {
    /// A change of any of these allows the next tick to have any number.
    ///
    /// Tempo changes and small moves of the grid are not among them: outputs slew after those, or catch up.
    private struct Circumstances: Hashable {
        var output: OutputCircumstances
        var sink: Sink
        /// Counts steps of the song position, for example on joining a session.
        var steps: UInt32

        init(of slot: Int, on board: OutputBoard) {
            output = OutputCircumstances(of: slot, on: board)
            (sink, steps) = (board.slots[slot].sink, board.map.steps)
        }
    }

    /// How often a tick was skipped or repeated, with or without a reason.
    private(set) var breaks = 0
    private var records: [Int: Record] = [:]

    /// The last tick of an output.
    private struct Record {
        var tick: Int64
        var circumstances: Circumstances
        var (microsecondsPerBeat, tempoChanges): (Int64, UInt32)
        /// Whether the circumstances have changed since, even if they have changed back.
        var isExcused = false
        /// For how many ticks an output that sends ahead may still be slewing after a change of tempo.
        var slewingTicks = 0
        /// Moves of grid and offset that an output may still be slewing over, in microseconds.
        var debt = 0.0
        private var (slewed, offset): (Int64, Int64)

        init(_ tick: Int64, of slot: Int, on board: OutputBoard) {
            self.tick = tick
            circumstances = Circumstances(of: slot, on: board)
            (microsecondsPerBeat, tempoChanges) = (board.map.line.microsecondsPerBeat, board.map.tempoChanges)
            (slewed, offset) = (board.map.slewed, board.slots[slot].settings.offset)
        }

        /// Takes a newer board into account.
        mutating func take(_ slot: Int, of board: OutputBoard, at now: HostTime) {
            isExcused =
                isExcused || circumstances != Circumstances(of: slot, on: board)
                || tempoChanges != board.map.tempoChanges
                    && isFarOff(board.map.line, board.slots[slot].settings, at: now)
            // An output that sends ahead has done so by the old tempo. It slews over that, and over another move of
            // the grid, as long as they make no more than half a tick together; at 0.5 %, that takes a hundred ticks
            // and more. A leader's jitter changes the tempo by less than 1 %.
            let change = abs(board.map.line.microsecondsPerBeat - microsecondsPerBeat)
            let settings = board.slots[slot].settings
            if settings.offset < 0, change * 100 > microsecondsPerBeat { slewingTicks = 300 }
            debt += Double(abs(board.map.slewed - slewed) + abs(settings.offset - offset))
            (slewed, offset) = (board.map.slewed, settings.offset)
        }

        /// Whether more ticks are overdue than may be sent late, or the output is so far ahead that it goes back.
        ///
        /// A change of tempo that is noticed late brings that about. See `PulseTrain.catchUpLimit` and
        /// `TickPlanner.follow`.
        func isFarOff(_ line: TickLine, _ settings: OutputSettings, at now: HostTime) -> Bool {
            let due = line.time(ofTick: tick + 1).advanced(byMicroseconds: settings.offset)
            let limits = -PulseTrain.catchUpLimit(gap: line.tickLength)...6 * line.tickLength
            return !limits.contains(now.microseconds(to: due))
        }

        /// Whether a move of the grid may have been too much to slew over, since others are not paid yet.
        ///
        /// One move alone, for example to a leader's ticks, is at most half a tick, and must break nothing.
        func owesTooMuch(_ line: TickLine) -> Bool { slewingTicks > 0 || debt > Double(line.tickLength / 2 + 2) }
    }

    /// Allows the next tick of every output to have any number.
    mutating func excuseAll() {
        for slot in records.keys { records[slot]?.isExcused = true }
    }

    /// Notes the board that the output thread uses now.
    mutating func take(_ board: OutputBoard, at now: HostTime) {
        for slot in records.keys where slot < board.count { records[slot]?.take(slot, of: board, at: now) }
    }

    /// Checks a message that is being sent.
    ///
    /// - Parameters:
    ///   - planned: the message as it was planned; nil for a final Stop.
    ///   - number: the slot of its output.
    ///   - board: the board that the output thread uses.
    ///   - now: the present time.
    /// - Returns: what is wrong; nil if nothing is.
    mutating func fault(
        of planned: PlannedMessage?, slot number: Int, on board: OutputBoard, at now: HostTime
    ) -> String? {
        guard let planned, planned.message == .timingClock else { return nil }
        let slot = board.slots[number]
        let tick = planned.place.tick
        var next = Record(tick, of: number, on: board)
        defer { records[number] = next }
        guard var last = records[number], last.circumstances.output.occupant == slot.occupant else { return nil }
        last.take(number, of: board, at: now)
        // Slewing over half a tick takes a few hundred ticks.
        (next.slewingTicks, next.debt) = (max(0, last.slewingTicks - 1), last.debt * 0.99)
        // With an offset, ticks that are due before the change still follow the old tempo.
        next.isExcused =
            next.isFarOff(board.map.line, slot.settings, at: now)
            && (last.isExcused || last.tempoChanges != board.map.tempoChanges)
        guard slot.settings.multiply == 1, slot.settings.divide == 1, slot.settings.tempos == .all,
            tick != last.tick + 1
        else { return nil }
        breaks += 1
        guard !last.isExcused, !last.owesTooMuch(board.map.line) else { return nil }
        // A change of tempo that is noticed late can leave more ticks overdue than may be sent late, or put the output
        // so far ahead that it goes back. See `PulseTrain.catchUpLimit` and `TickPlanner.follow`.
        let skipped = tick - last.tick - 1
        guard last.tempoChanges == board.map.tempoChanges || (-5..<3).contains(skipped) else { return nil }
        return "tick \(tick) of output \(number) follows tick \(last.tick)"
    }
}
