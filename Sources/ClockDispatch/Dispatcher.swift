internal import ALSASequencer
internal import BeatTime
internal import MIDIClock
internal import RealTime
internal import Synchronization

/// What the output thread knows of one output.
struct OutputState: BitwiseCopyable {
    var stream = Stream.clock(TickPlanner())
    /// Whether its stream must be asked what is next, since something has changed.
    var isOutdated = true
    /// What its stream gives next; nil if nothing.
    var next: StreamEvent?
    /// When that is due.
    var due = MonotonicTime(nanoseconds: 0)
    /// When the thread may send that itself: not before what is in the queue has left it.
    var ownDue = MonotonicTime(nanoseconds: 0)
    /// Whether that may go through the queue.
    var isForQueue = false
    /// Whether that is a Stop which waits for nothing but what would start the device again.
    var isUrgent = false
    /// Its slot in the newest board; the board itself is large, and only read when it has changed.
    var slot = OutputBoard.Slot()
    /// ``OutputBoard/Slot/occupant`` when this state was last reset; a different number means another output.
    var occupant: UInt32 = 0
    /// Value of ``OutputBoard/Slot/connections`` when the stream was last told of a device.
    var connections: UInt32 = 0
    /// Value of ``OutputBoard/Slot/realigning`` when the stream was last told to realign.
    var realigning = OutputBoard.Realigning()
    /// The rest of a message that its line has taken only in part.
    var unwritten = LineBytes()
    /// When the last message that was put into the queue leaves it, and the period at whose end that is.
    var (leaves, period) = (MonotonicTime(nanoseconds: 0), Int64(0))
    /// When the last one but ticks and Stops leaves the queue.
    var moves = MonotonicTime(nanoseconds: 0)
    /// When the last Stop leaves the queue.
    var stops = MonotonicTime(nanoseconds: 0)
    /// When the queue sends the last message, other than ticks, of which it is not known yet whether its device takes it.
    var receipt: MonotonicTime?
    /// Ticks put into the queue since its status was last read.
    var ticksQueued = 0
}

/// Sends every message exactly once, and on time: what is in the queue is sent.
///
/// Some milliseconds before a message is due, the thread starts the sequencer's queue, sees when that has really
/// started, and puts in what is due soon. From then on it counts as sent: nothing is taken back, and streams move on
/// once. The queue sends from the timer's interrupt, even while the thread cannot run. A new plan holds for what is not
/// in the queue yet.
///
/// The queue is started anew for each group of messages, so that one of its periods ends exactly when they are due. That
/// drops what is in it, so where the next group is too near the queue runs on, and messages leave up to half a period
/// off. What cannot go through the queue, the thread sends itself when it is due.
///
/// It owns its memory, which is fixed. The machine is a parameter, so that tests can simulate any order of events.
struct Dispatcher<Machine: DispatchMachine & ~Copyable>: ~Copyable {
    var machine: Machine
    private(set) var way: DispatchWay
    let states: PageArray<OutputState>
    /// The outputs' counters; the caller owns them.
    let counters: UnsafeMutablePointer<OutputCounters>
    /// The messages that are being sent or put into the queue.
    let batch: PageArray<ScheduledMessage>
    var reading: ClockReading
    var punctuality = Punctuality()
    /// The newest board's plan for all outputs; no outputs before the first board.
    private(set) var shared = SharedPlan(
        map: TempoMap(TickLine(microsecondsPerBeat: 500_000, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)),
        transport: .stopped, outputs: 0)
    /// Of the newest board; nil before the first one.
    private var newest: UInt64?
    /// The newest board under which, and under all older ones, nothing waits in the queue any more.
    private var settled: UInt64?
    /// The board that is settled next, and when.
    private var settling: (generation: UInt64, at: MonotonicTime)?
    /// The queue since its last start; nil if it does not run.
    var queue: QueueRun?
    /// When the queue may be started again after the kernel has refused, or it has not begun to run.
    var refusedUntil = MonotonicTime(nanoseconds: 0)
    /// When the thread was to wake, from waking until it has begun its work.
    private var wokenFor: MonotonicTime?
    /// When the thread last woke, or is to wake.
    private var awakeSince: MonotonicTime

    /// Room for messages of one output that are handled at once, in memory that is locked.
    static var batchPerOutput: Int { 8 }
    /// How long it may take, with a margin, until a plan has reached this thread, in nanoseconds.
    private static var starting: Int64 { 1_000_000 }
    /// Longest time without a sleep, and the pause that follows it, in nanoseconds.
    ///
    /// Keeps other threads alive when there is more to send than time.
    private static var longestTurn: Int64 { 2_000_000 }
    private static var yieldTime: Int64 { 300_000 }
    /// How often the clocks are read at least, in nanoseconds.
    private static var longestSleep: Int64 { 1_000_000_000 }
    /// How late the kernel's timer may be, in nanoseconds: what leaves the queue by then has surely left.
    static var longestHold: Int64 { 10_000_000 }
    /// A message later than this, in nanoseconds, is planned anew, since pulses must keep their distance.
    static var late: Int64 { 100_000 }
    /// How much more than the lead is put into the queue at one wake-up, in nanoseconds: a Start goes with its tick.
    static var groupSpan: Int64 { 2_500_000 }

    /// Prepares as many outputs as there are counters.
    ///
    /// - Parameters:
    ///   - machine: what to send with.
    ///   - way: how messages are sent.
    ///   - counters: of the outputs; they must outlive the dispatcher.
    init(machine: consuming Machine, way: DispatchWay, counters: borrowing PageArray<OutputCounters>) {
        self.way = way
        self.counters = counters.start
        states = PageArray(count: max(1, counters.count)) { _ in OutputState() }
        let nothing = ScheduledMessage(slot: 0, sink: .idle, message: .clock(.timingClock))
        batch = PageArray(count: SequencerSender.capacity) { _ in nothing }
        reading = machine.reading(after: nil)
        awakeSince = reading.monotonic
        self.machine = machine
    }

    /// Locks in memory what the first outputs need.
    ///
    /// - Parameter outputs: the number of outputs.
    /// - Returns: whether the system allowed it.
    func lockMemory(outputs: Int) -> Bool {
        states.lock(first: outputs) && batch.lock(first: min(outputs * Self.batchPerOutput, batch.count))
    }

    /// Learns from a timed sleep; call it before the turn.
    ///
    /// - Parameters:
    ///   - deadline: the end of the sleep.
    ///   - lateness: nanoseconds by which the thread woke later.
    mutating func wokeUp(at deadline: MonotonicTime, lateness: Int64) {
        punctuality.wasDelayed(by: lateness)
        wokenFor = deadline
        awakeSince = deadline.advanced(byNanoseconds: lateness)
    }

    /// Sends in another way from now on; call ``turn()`` at once.
    mutating func change(to way: DispatchWay) {
        self.way = way
        for slot in 0..<shared.outputs { states[slot].isOutdated = true }
    }

    /// Takes what the outputs are to do from now on; call ``turn()`` at once.
    ///
    /// It holds for what is not in the queue yet.
    mutating func take(_ board: borrowing OutputBoard) {
        guard newest != board.generation else { return }
        newest = board.generation
        shared = SharedPlan(
            map: board.map, transport: board.transport, songBegin: board.songBegin, outputs: board.count)
        for slot in 0..<board.count { takeChanges(of: slot, board) }
    }

    /// The newest board whose predecessors have no message in the queue any more; nil before the first board.
    var generation: UInt64? { settled }

    /// Does everything that is due now.
    ///
    /// - Returns: the deadline for the next call; call at once after ``take(_:)`` or ``change(to:)``.
    mutating func turn() -> MonotonicTime {
        reading = machine.reading(after: reading)
        let start = reading.monotonic
        awakeSince = min(awakeSince, start)
        takeReceipts(at: start)
        var deadline = min(work(), start.advanced(byNanoseconds: Self.longestSleep))
        wokenFor = nil
        let now = machine.monotonicTime()
        if let settles = settle(at: now) { deadline = min(deadline, settles) }
        if deadline <= now {
            guard now > awakeSince.advanced(byNanoseconds: Self.longestTurn) else { return deadline }
            deadline = now.advanced(byNanoseconds: Self.yieldTime)
        }
        awakeSince = deadline
        return deadline
    }

    private mutating func work() -> MonotonicTime {
        plan()
        var now = machine.monotonicTime()
        repeat {
            let own = ownDue()
            if let wakeUp = handleQueue(at: now, own: own) {
                let ownWakeUp = own.advanced(byNanoseconds: -punctuality.margin)
                guard now >= ownWakeUp else {
                    let next = min(wakeUp, ownWakeUp)
                    // A long sleep is split in two, to read the clocks in between: their rates may change meanwhile.
                    let isLong = next.nanoseconds - now.nanoseconds > 50_000_000
                    return isLong ? next.advanced(byNanoseconds: -25_000_000) : next
                }
                sendDue(at: own)
            }
            now = machine.monotonicTime()
        } while now <= awakeSince.advanced(byNanoseconds: Self.longestTurn)
        return now
    }

    /// Whether messages from sequencer ports go through the queue.
    ///
    /// While a followed song is stopped, its leader may send a Start together with its next tick, so nothing is sent ahead.
    var usesQueue: Bool {
        guard way.mode != .direct, machine.hasQueue else { return false }
        return shared.map.tolerance == nil || shared.transport.isPlaying
    }

    /// How messages are sent now.
    var mode: DispatchMode { usesQueue ? .queue : .direct }

    /// How long before messages are due they are put into the queue, in nanoseconds.
    ///
    /// An ordinary thread may be held up for long at any time, so it does so as early as it may.
    var lead: Int64 { way.isRealTime ? punctuality.lead : Punctuality.leads.upperBound }

    /// How far ahead, in microseconds, messages may be in the queue already.
    var horizon: Int64 { usesQueue ? (lead + Self.groupSpan + Self.starting) / 1_000 : 0 }

    /// Waits, without sleeping, for a time that is near; returns the present time then.
    mutating func wait(until time: MonotonicTime) -> MonotonicTime {
        var now = machine.monotonicTime()
        if let deadline = wokenFor.take() { punctuality.couldAct(after: now.nanoseconds - deadline.nanoseconds) }
        while now < time { now = machine.monotonicTime() }
        return now
    }

    /// Empties the queue, and sends the final Stops to the outputs of the last board taken.
    ///
    /// Closing the client would drop a Stop that is in the queue.
    mutating func finish() {
        machine.removeQueued()
        let now = machine.monotonicTime()
        reading = machine.reading(after: reading)
        var count = 0
        for slot in 0..<shared.outputs {
            let isUnsure = isQueued(states[slot].stops, at: now) && states[slot].slot.settings.sendsStop
            guard let last = states[slot].stream.finish() ?? (isUnsure ? .stop : nil) else { continue }
            batch[count] = ScheduledMessage(slot: slot, sink: states[slot].slot.sink, message: .clock(last))
            count += 1
        }
        stopQueue()
        sendBatch(count, at: now)
        for slot in 0..<shared.outputs { report(slot) }
    }

    mutating func stopQueue() {
        guard queue != nil else { return }
        machine.stopQueue()
        queue = nil
    }

    // Planning

    private mutating func takeChanges(of slot: Int, _ board: borrowing OutputBoard) {
        // Only once, because indexing into the board's array copies the whole array.
        let output = board.slots[slot]
        if states[slot].occupant != output.occupant {
            states[slot] = OutputState()
            states[slot].occupant = output.occupant
            counters[slot].reset()
        }
        if !states[slot].stream.isOne(of: output.stream) { states[slot].stream = Stream(output.stream) }
        if states[slot].slot.sink != output.sink { states[slot].unwritten = LineBytes() }
        states[slot].slot = output
        if states[slot].realigning != output.realigning {
            states[slot].realigning = output.realigning
            states[slot].stream.realign(output.realigning.when)
        }
        if states[slot].connections != output.connections {
            states[slot].connections = output.connections
            // What a device refused while it was being unplugged says nothing of the one that is there now.
            counters[slot].dropped.store(0, ordering: .relaxed)
            states[slot].stream.deviceConnected(isReturning: output.connections > 1)
        }
        if !output.sink.isForOutputThread { states[slot].stream.fallSilent() }
        states[slot].isOutdated = true
    }

    /// Asks those outputs' streams what is next for which something has changed, or which are late.
    mutating func plan() {
        let late = reading.monotonic.advanced(byNanoseconds: -Self.late)
        for slot in 0..<shared.outputs {
            if states[slot].isOutdated || states[slot].next != nil && states[slot].due < late {
                plan(slot)
            } else {
                setDue(slot)
            }
        }
    }

    /// Asks an output's stream what is next, after all that is in the queue.
    mutating func plan(_ slot: Int) {
        states[slot].isOutdated = false
        guard states[slot].slot.sink.isForOutputThread else { return states[slot].next = nil }
        let isAhead = states[slot].leaves > reading.monotonic
        let earliest = isAhead ? reading.hostTime(of: states[slot].leaves) : reading.hostTime
        let next = states[slot].stream.next(states[slot].slot, shared, at: earliest)
        states[slot].next = next
        let mayQueue = usesQueue && states[slot].slot.sink.isPort && states[slot].stream.syncState == .inSync
        states[slot].isForQueue = mayQueue && next?.message.fitsQueue == true
        states[slot].isUrgent = next.map { $0.message == .clock(.stop) && $0.due <= earliest } ?? false
        setDue(slot)
        report(slot)
    }

    /// Works out when an output's next message is due, by the clocks' newest reading.
    private func setDue(_ slot: Int) {
        guard let next = states[slot].next else { return }
        let now = reading.monotonic
        states[slot].due = reading.monotonicTime(of: next.due)
        var free = states[slot].leaves
        if states[slot].isUrgent {
            // A Stop waits for nothing but what would start the device again; ticks after it do no harm.
            free = states[slot].moves
            let mayOvertake = isQueued(free, at: now)
            states[slot].due = mayOvertake ? max(now, free.advanced(byNanoseconds: QueueRun.period)) : now
            if !mayOvertake { states[slot].isForQueue = false }
        }
        states[slot].ownDue = states[slot].due
        if isQueued(free, at: now) {
            states[slot].ownDue = max(states[slot].due, free.advanced(byNanoseconds: 2 * QueueRun.period))
        }
    }

    /// Whether what is to leave the queue at a time may still be in it: its timer may be held up.
    func isQueued(_ leaves: MonotonicTime, at now: MonotonicTime) -> Bool {
        queue != nil && now < leaves.advanced(byNanoseconds: Self.longestHold)
    }

    /// Publishes the state of an output's device, and what its stream has skipped.
    func report(_ slot: Int) {
        let skipped = states[slot].stream.takeSkipped()
        if skipped.pulses > 0 { counters[slot].countSkipped(skipped, at: reading.hostTime) }
        counters[slot].syncState.store(states[slot].stream.syncState.rawValue, ordering: .relaxed)
        counters[slot].mayPlay.store(states[slot].stream.mayPlay, ordering: .relaxed)
        if let rate = states[slot].stream.rate { counters[slot].publish(rate) }
    }

    /// Notes which boards are in use alone by now.
    ///
    /// - Returns: when to call again; nil if that is not needed.
    private mutating func settle(at now: MonotonicTime) -> MonotonicTime? {
        while settled != newest, let newest {
            let empty = queue?.lastLeaves.advanced(byNanoseconds: Self.longestHold) ?? now
            let next = settling ?? (newest, empty)
            guard next.at <= now else {
                settling = next
                return next.at
            }
            (settled, settling) = (next.generation, nil)
        }
        return nil
    }
}
