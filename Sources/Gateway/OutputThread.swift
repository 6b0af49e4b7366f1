internal import ALSASequencer
internal import BeatTime
internal import Glibc
internal import MIDIClock
internal import RealTime
internal import Synchronization

/// The thread that sends: it sleeps to the moment a message is due and sends it then.
///
/// It allocates nothing, takes no lock, logs nothing. It reads one ``OutputBoard`` and writes ``OutputCounters``;
/// the planners are its own.
final class OutputThread: @unchecked Sendable {
    // Safe because `planners` is touched by the thread alone and everything else is atomic or constant.
    private let board: Snapshot<OutputBoard>
    private let sequencer: SequencerOutput?
    private let planners: UnsafeMutablePointer<(planner: TickPlanner, connections: UInt32, realignments: UInt32)>
    private let counters: UnsafeMutablePointer<OutputCounters>
    private let isStopping = Atomic(false)
    private let boardInUse = Atomic<UInt64>(0)
    private let hasLockedMemory = Atomic(false)
    private var sleeper = Sleeper()
    private let outputs: Int

    /// How often the board is read anew while nothing is due: news wait no longer than this, in microseconds.
    private static let slice: Int64 = 5_000
    /// What the loop below needs of its stack, in bytes.
    private static let stackInUse = 24 * 1024

    /// Prepares the thread for a fixed number of outputs.
    init(outputs: Int, sequencer: SequencerOutput?, board: Snapshot<OutputBoard>) {
        self.outputs = outputs
        self.board = board
        self.sequencer = sequencer
        planners = .allocate(capacity: max(1, outputs))
        planners.initialize(repeating: (TickPlanner(), 0, 0), count: outputs)
        counters = .allocate(capacity: max(1, outputs))
        for index in 0..<outputs { (counters + index).initialize(to: OutputCounters()) }
    }

    deinit {
        planners.deallocate()
        counters.deinitialize(count: outputs)
        counters.deallocate()
    }

    /// The counters of one output, by its slot.
    func withCounters<Result>(of slot: Int, _ body: (borrowing OutputCounters) -> Result) -> Result {
        body(counters[slot])
    }

    /// The generation of the board in use; older ones will not be looked at again.
    var generationInUse: UInt64 { boardInUse.load(ordering: .acquiring) }

    /// Whether the thread's stack and slots stay in memory.
    var isMemoryLocked: Bool { hasLockedMemory.load(ordering: .relaxed) }

    /// Makes ``run()`` stop the devices that play, and return.
    func stop() { isStopping.store(true, ordering: .releasing) }

    /// The thread's body.
    func run() {
        lockMemory()
        Rehearsal.play()
        while !isStopping.load(ordering: .acquiring) {
            let (due, tickLength) = sendWhatIsDue()
            sleeper.sleep(until: due, slice: Self.slice, tickLength: tickLength)
        }
        finish()
    }

    private func lockMemory() {
        let slots = LockedMemory.lock(planners, byteCount: outputs * MemoryLayout.size(ofValue: planners[0]))
        let counts = LockedMemory.lock(counters, byteCount: outputs * MemoryLayout<OutputCounters>.size)
        let stack = LockedMemory.lockStack(byteCount: Self.stackInUse)
        hasLockedMemory.store(slots && counts && stack, ordering: .relaxed)
    }

    /// Sends all messages that are due, output by output.
    ///
    /// - Returns: when the next one is due, and the time between two ticks.
    private func sendWhatIsDue() -> (due: HostTime, tickLength: Int64) {
        board.withLatest { board in
            boardInUse.store(board.generation, ordering: .releasing)
            var next = HostTime(microseconds: .max)
            for slot in 0..<board.count {
                next = min(next, advance(slot, board))
            }
            return (next, board.map.line.tickLength)
        }
    }

    private func advance(_ slot: Int, _ board: borrowing OutputBoard) -> HostTime {
        let output = board.slots[slot]
        if planners[slot].realignments != output.realignments {
            planners[slot].realignments = output.realignments
            planners[slot].planner.realign()
        }
        if planners[slot].connections != output.connections {
            planners[slot].connections = output.connections
            planners[slot].planner.deviceConnected(isReturning: output.connections > 1)
        }
        let plan = OutputPlan(transport: board.transport, settings: output.settings)
        while true {
            let now = HostTime.now()
            guard let planned = planners[slot].planner.next(plan, on: board.map, at: now) else {
                return HostTime(microseconds: .max)
            }
            guard planned.due <= now else { return planned.due }
            send(planned.message, to: output.sink, slot)
            planners[slot].planner.sent(planned, at: now)
            if planned.message == .timingClock {
                countTick(slot, lateness: planned.due.microseconds(to: now) + planned.belated)
            }
        }
    }

    private func countTick(_ slot: Int, lateness: Int64) {
        counters[slot].ticks.add(1, ordering: .relaxed)
        counters[slot].lateness.record(microseconds: lateness)
        if lateness > 1_000 { counters[slot].lateTicks.add(1, ordering: .relaxed) }
    }

    private func send(_ message: ClockMessage, to sink: Sink, _ slot: Int) {
        switch sink {
        case .away, .discard: break
        case .port(let port):
            if sequencer?.send(message, from: port) == false { counters[slot].dropped.add(1, ordering: .relaxed) }
        case .line(let descriptor):
            var (bytes, count) = message.wire
            let written = write(descriptor, &bytes, count)
            guard written != count else { return }
            counters[slot].dropped.add(1, ordering: .relaxed)
            if written < 0, errno != EAGAIN, errno != EINTR {
                counters[slot].isLineBroken.store(true, ordering: .relaxed)
            }
        }
    }

    private func finish() {
        board.withLatest { board in
            for slot in 0..<board.count {
                if let last = planners[slot].planner.finish() { send(last, to: board.slots[slot].sink, slot) }
            }
        }
    }
}
