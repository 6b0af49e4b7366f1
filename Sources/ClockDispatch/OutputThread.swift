package import ALSASequencer
internal import BeatTime
internal import MIDIClock
package import RealTime
internal import Synchronization

/// The thread that sends: it sleeps until its ``Dispatcher`` has work, or the board changes.
///
/// Once it runs it allocates nothing, takes no lock and logs nothing. It reads one ``OutputBoard`` and writes counters;
/// the planners are its own.
package final class OutputThread: @unchecked Sendable {
    // Safe because everything shared is atomic or constant; the rest is local to the thread.
    private let board: TripleBuffer<OutputBoard>
    private let sequencer: SequencerOutput?
    private let choice: DispatchChoice
    private let isRealTimeKernel = RunningKernel.isRealTime
    /// Allocated for the largest number of outputs, so that later ones need no allocation.
    let counters = PageArray(count: OutputBoard.capacity) { _ in OutputCounters() }
    /// How late the thread wakes.
    package let wakeUps = LatencyHistogram()
    private let modeInForce = Atomic(DispatchMode.direct.rawValue)
    private let isStopping = Atomic(false)
    private let boardInUse = Atomic<UInt64>(0)
    private let hasLockedMemory = Atomic(false)
    private let nextTurn = Atomic<Int64>(.max)
    private let putAhead = Atomic<Int64>(0)

    /// Stack space that the loop below needs, in bytes.
    private static let stackInUse = 24 * 1024

    /// Prepares the thread.
    package init(sequencer: SequencerOutput?, board: TripleBuffer<OutputBoard>, dispatch: DispatchChoice) {
        self.board = board
        self.sequencer = sequencer
        choice = dispatch
    }

    /// The counters of one output, by its slot.
    package func withCounters<Result>(of slot: Int, _ body: (borrowing OutputCounters) -> Result) -> Result {
        body(counters[slot])
    }

    /// The generation of the board in use; nothing planned by older boards will be sent any more, and the counters reflect
    /// it.
    package var generationInUse: UInt64 { boardInUse.load(ordering: .acquiring) }

    /// How far ahead, in microseconds, messages may be in the queue already.
    package var horizon: Int64 { putAhead.load(ordering: .relaxed) }

    /// Whether the thread's stack and slots are locked in memory.
    package var isMemoryLocked: Bool { hasLockedMemory.load(ordering: .relaxed) }

    /// Whether the thread has done its first turn.
    package var hasStarted: Bool { wakesAt.nanoseconds != .max }

    /// When the thread is due to run next; the end of time until it has started.
    package var wakesAt: MonotonicTime { MonotonicTime(nanoseconds: nextTurn.load(ordering: .relaxed)) }

    /// How messages are sent.
    package var mode: DispatchMode { DispatchMode(rawValue: modeInForce.load(ordering: .relaxed)) ?? .direct }

    /// Whether there are sequencer ports at all.
    package var hasSequencer: Bool { sequencer != nil }

    /// Why the sequencer's queue cannot be used; nil if it can, or if there is no sequencer.
    package var queueFailure: QueueFailure? { sequencer?.queueFailure }

    /// Whether a queue is wanted but missing, for a thread with this scheduling.
    ///
    /// Without a sequencer only a user who asked for the queue misses it.
    package func lacksQueue(scheduling: Scheduling) -> Bool {
        guard sequencer?.hasQueue != true, sequencer != nil || choice != .auto else { return false }
        return way(scheduling, hasQueue: true).mode != .direct
    }

    /// Makes ``run()`` send the final Stops, and return.
    package func stop() {
        isStopping.store(true, ordering: .releasing)
        board.wakeReader()
    }

    /// The thread's body.
    ///
    /// After a crash of another thread, the process waits until playing devices have been stopped.
    package func run() {
        board.finishBeforeCrash()
        let machine = KernelMachine(sequencer)
        let scheduling = Scheduling.ofThisThread
        let way = way(scheduling, hasQueue: machine.hasQueue)
        LockedMemory.loadCode()
        var dispatcher = Dispatcher(machine: machine, way: way, counters: counters)
        let outputsInUse = board.withLatest { $0.count }
        lockMemory(dispatcher, outputs: outputsInUse)
        dispatch(&dispatcher, scheduling, outputsLocked: outputsInUse)
        board.finished()
    }

    private func way(_ scheduling: Scheduling, hasQueue: Bool) -> DispatchWay {
        .chosen(choice, scheduling: scheduling, isRealTimeKernel: isRealTimeKernel, hasQueue: hasQueue)
    }

    /// Locks the memory in use, not all that could ever be: ordinary users have a low limit.
    private func lockMemory(_ dispatcher: borrowing Dispatcher<KernelMachine>, outputs: Int) {
        let slots = dispatcher.lockMemory(outputs: outputs) && dispatcher.machine.lockMemory(outputs: outputs)
        let counts = counters.lock(first: outputs)
        let stack = LockedMemory.lockStack(byteCount: Self.stackInUse)
        hasLockedMemory.store(slots && counts && stack, ordering: .relaxed)
    }

    private func dispatch(
        _ dispatcher: inout Dispatcher<KernelMachine>, _ scheduling: Scheduling, outputsLocked: Int
    ) {
        let board = board
        var (scheduling, outputsLocked, turns) = (scheduling, outputsLocked, 0)
        var taken: UInt32?
        while true {
            let edition = board.edition
            guard !isStopping.load(ordering: .acquiring), !Crash.mustFinish else { break }
            if edition != taken {
                taken = edition
                board.withLatest { board in
                    if board.count > outputsLocked {
                        outputsLocked = board.count
                        lockMemory(dispatcher, outputs: outputsLocked)
                    }
                    dispatcher.take(board)
                }
            }
            let deadline = dispatcher.turn()
            boardInUse.store(dispatcher.generation ?? 0, ordering: .releasing)
            putAhead.store(dispatcher.horizon, ordering: .relaxed)
            modeInForce.store(dispatcher.mode.rawValue, ordering: .relaxed)
            nextTurn.store(deadline.nanoseconds, ordering: .relaxed)
            // Others may give this thread real-time scheduling while it runs, or take it away; asking costs two calls.
            turns &+= 1
            let schedulingNow = turns % 16 == 0 ? Scheduling.ofThisThread : scheduling
            if schedulingNow.isRealTime != scheduling.isRealTime {
                scheduling = schedulingNow
                dispatcher.change(to: way(scheduling, hasQueue: dispatcher.machine.hasQueue))
                continue
            }
            guard MonotonicTime.now() < deadline, board.wait(seen: edition, until: deadline) else { continue }
            let lateness = MonotonicTime.now().nanoseconds - deadline.nanoseconds
            wakeUps.record(microseconds: lateness / 1000)
            dispatcher.wokeUp(at: deadline, lateness: lateness)
        }
        dispatcher.finish()
    }
}
