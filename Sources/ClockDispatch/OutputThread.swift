package import ALSASequencer
internal import BeatTime
internal import MIDIClock
package import RealTime
internal import Synchronization

/// The thread that sends: it sleeps until its ``Dispatcher`` has something to do, or the board changes.
///
/// It allocates nothing once it runs, takes no lock, logs nothing. It reads one ``OutputBoard`` and writes counters;
/// the planners are its own.
package final class OutputThread: @unchecked Sendable {
    // Safe because everything is atomic or constant; what changes otherwise is local to the thread.
    private let board: TripleBuffer<OutputBoard>
    private let sequencer: SequencerOutput?
    private let choice: DispatchChoice
    private let isRealTimeKernel = RunningKernel.isRealTime
    /// As many as there may ever be: what is made later must find its place without memory being asked for.
    let counters = PageArray(count: OutputBoard.capacity) { _ in OutputCounters() }
    /// How long after the time it asked for the thread wakes.
    package let wakeUps = LatencyHistogram()
    private let modeInForce = Atomic(DispatchMode.direct.rawValue)
    private let isStopping = Atomic(false)
    private let boardInUse = Atomic<UInt64>(0)
    private let portsInPlace: Atomic<UInt64>
    private let hasLockedMemory = Atomic(false)
    private let nextTurn = Atomic<Int64>(.max)

    /// What the loop below needs of its stack, in bytes.
    private static let stackInUse = 24 * 1024

    /// Prepares the thread.
    package init(sequencer: SequencerOutput?, board: TripleBuffer<OutputBoard>, dispatch: DispatchChoice) {
        self.board = board
        self.sequencer = sequencer
        choice = dispatch
        portsInPlace = Atomic(sequencer?.existingPorts ?? 0)
    }

    /// The counters of one output, by its slot.
    package func withCounters<Result>(of slot: Int, _ body: (borrowing OutputCounters) -> Result) -> Result {
        body(counters[slot])
    }

    /// The generation of the board in use; what the counters say follows it, and older ones will not be looked at again.
    package var generationInUse: UInt64 { boardInUse.load(ordering: .acquiring) }

    /// The sequencer ports there are, one bit each; the thread touches nothing of the others until a board wants them.
    package var existingPorts: UInt64 { portsInPlace.load(ordering: .acquiring) }

    /// Whether the thread's stack and slots stay in memory.
    package var isMemoryLocked: Bool { hasLockedMemory.load(ordering: .relaxed) }

    /// When the thread meant to be at work again.
    package var wakesAt: MonotonicTime { MonotonicTime(nanoseconds: nextTurn.load(ordering: .relaxed)) }

    /// How messages leave.
    package var mode: DispatchMode { DispatchMode(rawValue: modeInForce.load(ordering: .relaxed)) ?? .direct }

    /// Whether there are sequencer ports at all.
    package var hasSequencer: Bool { sequencer != nil }

    /// Why the sequencer's queue does not help; nil if it does, or there is no sequencer.
    package var queueFailure: QueueFailure? { sequencer?.queueFailure }

    /// Whether there is no queue though it is wanted, for a thread that is scheduled in this way.
    ///
    /// Without a sequencer nobody misses it but who has asked for it.
    package func lacksQueue(scheduling: Scheduling) -> Bool {
        guard sequencer?.hasQueue != true, sequencer != nil || choice != .auto else { return false }
        let wanted = DispatchMode.chosen(
            choice, scheduling: scheduling, isRealTimeKernel: isRealTimeKernel, hasQueue: true)
        return wanted != .direct
    }

    /// Makes ``run()`` stop the devices that play, and return.
    package func stop() {
        isStopping.store(true, ordering: .releasing)
        board.wakeReader()
    }

    /// The thread's body.
    ///
    /// If another thread crashes, the process waits until the devices that play have been stopped.
    package func run() {
        board.finishBeforeCrash()
        var machine = KernelMachine(sequencer)
        let mode = DispatchMode.chosen(
            choice, scheduling: .ofThisThread, isRealTimeKernel: isRealTimeKernel, hasQueue: machine.hasQueue)
        Rehearsal.play()
        if mode != .direct { machine = Rehearsal.dispatch(machine) }
        var dispatcher = Dispatcher(machine: machine, mode: mode, counters: counters)
        let outputsInUse = board.withLatest { $0.count }
        lockMemory(dispatcher, outputs: outputsInUse)
        dispatch(&dispatcher, outputsLocked: outputsInUse)
        board.finished()
    }

    /// Locks what is in use, not what there may ever be: an ordinary user is allowed little.
    private func lockMemory(_ dispatcher: borrowing Dispatcher<KernelMachine>, outputs: Int) {
        let slots = dispatcher.lockMemory(outputs: outputs) && dispatcher.machine.lockMemory(outputs: outputs)
        let counts = counters.lock(first: outputs)
        let stack = LockedMemory.lockStack(byteCount: Self.stackInUse)
        hasLockedMemory.store(slots && counts && stack, ordering: .relaxed)
    }

    private func dispatch(_ dispatcher: inout Dispatcher<KernelMachine>, outputsLocked: Int) {
        let board = board
        var outputsLocked = outputsLocked
        while true {
            let edition = board.edition
            guard !isStopping.load(ordering: .acquiring), !Crash.hasHappened else { break }
            let deadline = board.withLatest { board in
                defer { boardInUse.store(board.generation, ordering: .releasing) }
                if board.count > outputsLocked {
                    outputsLocked = board.count
                    lockMemory(dispatcher, outputs: outputsLocked)
                }
                return dispatcher.turn(board)
            }
            modeInForce.store(dispatcher.mode.rawValue, ordering: .relaxed)
            nextTurn.store(deadline.nanoseconds, ordering: .relaxed)
            if dispatcher.changePort(before: deadline) {
                portsInPlace.store(dispatcher.machine.existingPorts, ordering: .releasing)
                continue
            }
            guard MonotonicTime.now() < deadline, board.wait(seen: edition, until: deadline) else { continue }
            let lateness = MonotonicTime.now().nanoseconds - deadline.nanoseconds
            wakeUps.record(microseconds: lateness / 1000)
            dispatcher.wokeUp(lateness: lateness, isChoiceFree: choice == .auto)
        }
        board.withLatest { dispatcher.finish($0) }
    }
}
