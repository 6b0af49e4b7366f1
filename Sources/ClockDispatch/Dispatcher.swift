internal import ALSASequencer
internal import BeatTime
internal import MIDIClock
internal import RealTime
internal import Synchronization

/// What the output thread knows of one output.
struct OutputState: BitwiseCopyable {
    var planner = TickPlanner()
    /// Its slot in the newest board; the board itself is large, and only read when it has changed.
    var slot = OutputBoard.Slot()
    /// ``OutputBoard/Slot/occupant`` when this state was last reset; a different number means another output.
    var occupant: UInt32 = 0
    /// Value of ``OutputBoard/Slot/connections`` when the planner was last told of a device.
    var connections: UInt32 = 0
    /// Value of ``OutputBoard/Slot/realigning`` when the planner was last told to realign.
    var realigning = OutputBoard.Realigning()
    /// The rest of a message that its line has taken only in part.
    var unwritten = LineBytes()
}

/// Sends every message exactly once, and on time.
///
/// Some milliseconds before messages are due, the dispatcher puts them into the sequencer's queue for their due time. The
/// queue sends them from the timer's interrupt, even while the thread cannot run. Where the queue is less exact than the
/// thread, because another program's queue runs (``Company``), the thread wakes just before a message is due, takes
/// everything back and sends it itself.
///
/// It never guesses which of the two has sent a message. Before the queue's earliest moment nothing can have left it;
/// after that moment the witness has heard what did. Planners learn only what was sent, so a change of plans loses
/// nothing.
///
/// It owns its memory, which is fixed. The machine is a parameter, so that tests can simulate any order of events.
struct Dispatcher<Machine: DispatchMachine & ~Copyable>: ~Copyable {
    var machine: Machine
    var way: DispatchWay
    let outputs: Int
    let states: PageArray<OutputState>
    /// The outputs' counters; the caller owns them.
    let counters: UnsafeMutablePointer<OutputCounters>
    let heard: PageArray<SequencerSender.Heard>
    var agenda: Agenda
    var reading: ClockReading
    var policy = WakeUpPolicy()
    var company = Company()
    /// The newest board's plan for all outputs; no outputs before the first board.
    private var shared = SharedPlan(
        map: TempoMap(TickLine(microsecondsPerBeat: 500_000, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)),
        transport: .stopped, outputs: 0)
    /// Of the newest board; nil before the first one.
    private(set) var generation: UInt64?
    /// The sequencer ports that must exist, one bit each.
    private var wantedPorts: UInt64 = 0
    /// The queue since its last start; nil if it does not run.
    var queue: RunningQueue?
    /// When something can leave the queue at the earliest, and when its first group usually has; nil if it holds nothing.
    var armed: (earliest: MonotonicTime, groupEnd: MonotonicTime)?
    /// The last tag used; never 0.
    var tag: UInt8 = 0
    /// When the thread was to wake, from waking until it has begun its work; later by what it has waited since.
    var wokenFor: MonotonicTime?
    /// When the thread began to take back what it is about to send; until that is sent, or the turn ends.
    var takingBackSince: MonotonicTime?
    /// When the last ticks that the thread sent were due.
    var lastSent = MonotonicTime(nanoseconds: 0)
    /// When the thread last woke, or is to wake.
    private var awakeSince: MonotonicTime

    /// The queue since its last start.
    struct RunningQueue: BitwiseCopyable {
        /// Lower bound on when it started.
        let start: MonotonicTime
        /// When the call that started it returned.
        let returned: MonotonicTime
        /// Of all measurements of when its time was 0, the earliest upper limit; nil until it has been measured.
        private var latest: MonotonicTime?
        /// Of all measurements, the smallest distance between the limits, in nanoseconds.
        private var error: Int64 = .max
        /// Whether it is known to have started almost at once.
        var wasPrompt = false
        /// Whether its start had to wait for very long.
        var isSlow = false

        init(start: MonotonicTime, returned: MonotonicTime) { (self.start, self.returned) = (start, returned) }

        /// Estimate of when its time was 0; nil until it has been measured.
        var origin: MonotonicTime? { latest.map { max(start, $0.advanced(byNanoseconds: -error)) } }
        /// When its periods end, as far as is known.
        var grid: QueueGrid { QueueGrid(start: origin ?? start) }

        /// Takes a measurement of when its time was 0.
        ///
        /// An interrupt that is late makes it seem later, and a thread that is held up while it asks makes the limits wide.
        mutating func measured(within limits: ClosedRange<MonotonicTime>) {
            latest = min(latest ?? limits.upperBound, limits.upperBound)
            error = min(error, limits.upperBound.nanoseconds - limits.lowerBound.nanoseconds)
        }
    }

    /// Longest time without a sleep, and the pause that follows it, in nanoseconds.
    ///
    /// Keeps other threads alive when there is more to send than time.
    static var longestTurn: Int64 { 2_000_000 }
    static var yieldTime: Int64 { 300_000 }
    /// How often the clocks are read at least, in nanoseconds.
    static var longestSleep: Int64 { 1_000_000_000 }
    /// A message later than this, in microseconds, may change the plan.
    static var late: Int64 { 100 }

    /// Prepares as many outputs as there are counters.
    ///
    /// - Parameters:
    ///   - machine: what to send with, until ``relinquish()``.
    ///   - way: how messages are sent.
    ///   - counters: of the outputs; they must outlive the dispatcher.
    init(machine: consuming Machine, way: DispatchWay, counters: borrowing PageArray<OutputCounters>) {
        self.way = way
        outputs = counters.count
        self.counters = counters.start
        states = PageArray(count: max(1, outputs)) { _ in OutputState() }
        heard = PageArray(count: SequencerSender.heardCapacity) { _ in .init(port: 0, tag: 0, queueTime: 0) }
        agenda = Agenda(outputs: outputs)
        reading = machine.reading(after: nil)
        awakeSince = reading.monotonic
        self.machine = machine
    }

    /// Ends the dispatcher, and returns its machine.
    consuming func relinquish() -> Machine { machine }

    /// Locks in memory what the first outputs need.
    ///
    /// - Parameter outputs: the number of outputs.
    /// - Returns: whether the system allowed it.
    func lockMemory(outputs: Int) -> Bool {
        states.lock(first: outputs) && heard.lock(first: heard.count) && agenda.lockMemory(outputs: outputs)
    }

    /// Learns from a timed sleep; call it before the turn.
    ///
    /// - Parameters:
    ///   - deadline: the end of the sleep.
    ///   - lateness: nanoseconds by which the thread woke later.
    mutating func wokeUp(at deadline: MonotonicTime, lateness: Int64) {
        policy.wokeUp(lateness: lateness)
        wokenFor = deadline
        awakeSince = deadline.advanced(byNanoseconds: lateness)
    }

    /// Sends in another way from now on; call ``turn()`` at once.
    mutating func change(to way: DispatchWay) {
        guard way != self.way else { return }
        planAnew()
        stopQueue()
        company = Company()
        self.way = way
    }

    /// Takes what the outputs are to do from now on; call ``turn()`` at once.
    mutating func take(_ board: borrowing OutputBoard) {
        guard generation != board.generation else { return }
        planAnew()
        generation = board.generation
        shared = SharedPlan(map: board.map, transport: board.transport, outputs: board.count)
        wantedPorts = board.ports
        for slot in 0..<board.count { takeChanges(of: slot, board) }
    }

    /// Does everything that is due now.
    ///
    /// - Returns: the deadline for the next call; call at once after ``take(_:)``, ``change(to:)`` or
    ///   ``changePort(before:)``.
    mutating func turn() -> MonotonicTime {
        reading = machine.reading(after: reading)
        let start = reading.monotonic
        awakeSince = min(awakeSince, start)
        var deadline = min(work(), start.advanced(byNanoseconds: Self.longestSleep))
        (wokenFor, takingBackSince) = (nil, nil)
        let now = machine.monotonicTime()
        if deadline <= now {
            guard now > awakeSince.advanced(byNanoseconds: Self.longestTurn) else { return deadline }
            deadline = now.advanced(byNanoseconds: Self.yieldTime)
        }
        awakeSince = deadline
        return deadline
    }

    private mutating func work() -> MonotonicTime {
        if armed != nil {
            if let wakeUp = nextOwnWakeUp {
                waitToTakeBack(from: wakeUp)
            } else if mode == .queue, let gap = nextGap {
                // Until then everything is left to the queue.
                return gap
            }
            let mayStop = takingBackSince != nil && policy.hasTime && queue?.isSlow == false
            disarm()
            // Adds to what was taken back what is now within the lead.
            plan()
            if mayStop, !needsQueueSoon { stopQueue() }
        }
        while true {
            if agenda.isEmpty { plan() }
            guard !agenda.isEmpty else { return pause(until: MonotonicTime(nanoseconds: .max)) }
            let (due, wakeUp) = (due(of: 0), ownWakeUp(for: 0))
            let count = agenda.count
            if let deadline = queueUp(wakeUp: wakeUp) { return deadline }
            // The queue may have sent something after all, because the thread was held up.
            guard agenda.count == count else { continue }
            let now = machine.monotonicTime()
            // The queue does not cover the message, so the thread must not sleep during the last period before it.
            let isNear =
                agenda.entries[0].port != nil && usesQueue && now.advanced(byNanoseconds: QueueGrid.period) >= due
            guard isNear || now >= wakeUp else {
                // A long sleep is split in two, to read the clocks in between: their rates may change meanwhile.
                let isLong = wakeUp.nanoseconds - now.nanoseconds > 50_000_000
                return pause(until: isLong ? wakeUp.advanced(byNanoseconds: -25_000_000) : wakeUp)
            }
            noteCouldSend(at: now)
            if agenda.entries[0].message == .timingClock { lastSent = due }
            sendFirst(awakeSince: reading.hostTime)
            finishedGroup()
            // What the queue stands by for next includes what is now within the lead.
            if company.isPresent { plan() }
            if now > awakeSince.advanced(byNanoseconds: Self.longestTurn) { return pause(until: now) }
        }
    }

    /// Notes how long it has taken, from waking for it, until a message can be sent, and of that to take it back.
    mutating func noteCouldSend(at now: MonotonicTime) {
        if let start = takingBackSince.take() { policy.tookBack(in: now.nanoseconds - start.nanoseconds) }
        guard let deadline = wokenFor.take() else { return }
        policy.couldSend(after: now.nanoseconds - deadline.nanoseconds)
    }

    /// Notes that a group of messages has been handled.
    mutating func finishedGroup() {
        policy.finishedGroup(at: machine.monotonicTime(), threadTime: machine.threadTime())
    }

    /// How messages are sent now: where that is adaptive, by the thread while another program's queue runs.
    var mode: DispatchMode { way.isAdaptive && company.isPresent ? .backstop : way.mode }

    /// Whether messages from sequencer ports go through the queue.
    var usesQueue: Bool { mode != .direct && machine.hasQueue }

    /// When a message of the agenda is due.
    func due(of index: Int) -> MonotonicTime { reading.monotonicTime(of: agenda.entries[index].due) }

    /// When to wake if the thread is to send a message of the agenda: before the queue does, if that runs on.
    func ownWakeUp(for index: Int) -> MonotonicTime {
        var aim = due(of: index)
        if company.isPresent, let queue { aim = min(aim, queue.grid.end(nearest: aim)) }
        return aim.advanced(byNanoseconds: -policy.marginToSend)
    }

    /// Creates or deletes one sequencer port, if needed and if time allows before the next message.
    ///
    /// - Parameter deadline: when the next message needs attention.
    /// - Returns: true if it did; the time must then be read again.
    mutating func changePort(before deadline: MonotonicTime) -> Bool {
        // A refused port that is no longer wanted is deleted too, so that it may be tried again.
        let change = (machine.existingPorts | machine.refusedPorts) ^ wantedPorts
        guard change != 0 else { return false }
        let start = machine.monotonicTime()
        guard start.advanced(byNanoseconds: policy.portChange.nanoseconds) < deadline else { return false }
        let port = change.trailingZeroBitCount
        machine.setPort(UInt8(port), exists: wantedPorts >> UInt64(port) & 1 == 1)
        policy.portChange.learn(machine.monotonicTime().nanoseconds - start.nanoseconds)
        return true
    }

    /// Takes everything back and sends the final Stops to the outputs of the last board taken.
    mutating func finish() {
        disarm()
        agenda.end(outputs: shared.outputs, states, at: machine.hostTime())
        send(agenda.count)
        for slot in 0..<shared.outputs { report(slot) }
        stopQueue()
    }

    /// Stops an unused queue before a sleep; returns the deadline.
    mutating func pause(until deadline: MonotonicTime) -> MonotonicTime {
        if armed == nil { stopQueue() }
        return deadline
    }

    mutating func stopQueue() {
        guard queue != nil else { return }
        machine.stopQueue()
        queue = nil
    }

    // Planning

    private func takeChanges(of slot: Int, _ board: borrowing OutputBoard) {
        // Only once, because indexing into the board's array copies the whole array.
        let output = board.slots[slot]
        if states[slot].occupant != output.occupant {
            states[slot] = OutputState()
            states[slot].occupant = output.occupant
            counters[slot].reset()
        }
        if states[slot].slot.sink != output.sink { states[slot].unwritten = LineBytes() }
        states[slot].slot = output
        if states[slot].realigning != output.realigning {
            states[slot].realigning = output.realigning
            states[slot].planner.realign(output.realigning.when)
        }
        if states[slot].connections != output.connections {
            states[slot].connections = output.connections
            states[slot].planner.deviceConnected(isReturning: output.connections > 1)
        }
        if output.sink == .away { states[slot].planner.fallSilent() }
    }

    private mutating func plan() {
        let span = policy.groupSpan + (mode == .direct ? 0 : lead / 1_000)
        agenda.plan(shared, states, at: machine.hostTime(), span: span)
        for slot in 0..<shared.outputs { report(slot) }
    }

    /// Publishes the state of an output's device, and what its planner has skipped.
    private func report(_ slot: Int) {
        let skipped = states[slot].planner.takeSkipped()
        if skipped.pulses > 0 { counters[slot].countSkipped(skipped, at: agenda.plannedAt) }
        counters[slot].step.store(states[slot].planner.step.rawValue, ordering: .relaxed)
        counters[slot].mayPlay.store(states[slot].planner.mayPlay, ordering: .relaxed)
        counters[slot].publish(states[slot].planner.rate)
    }

    // Sending

    /// Waits, without sleeping, until the first messages are due, and sends them.
    private mutating func sendFirst(awakeSince: HostTime) {
        var now = machine.hostTime()
        while now < agenda.entries[0].due { now = machine.hostTime() }
        // After a stall the plan from before it may be outdated.
        let isStale = agenda.plannedAt < awakeSince
        guard !isStale || agenda.entries[0].due.microseconds(to: now) <= Self.late else { return planAnew() }
        send(agenda.countReady(by: now))
    }

    /// Takes everything back from the queue and empties the agenda, so that it is planned again.
    private mutating func planAnew() {
        disarm()
        agenda.clear()
    }

    /// Sends the first messages, none of which is in the queue.
    private mutating func send(_ count: Int) {
        let now = machine.hostTime()
        machine.send(UnsafeMutableBufferPointer(start: agenda.entries.start, count: count))
        for index in 0..<count {
            if case .line(let line) = agenda.entries[index].sink { write(index, to: line) }
        }
        var isLate = false
        for index in 0..<count {
            isLate = note(index, leftAt: now) || isLate
            let entry = agenda.entries[index]
            if entry.sink.hasReceiver { isLate = receipt(entry.slot, entry.wasRefused) || isLate }
        }
        agenda.removeDeparted()
        if isLate { planAnew() }
        forgetHeard()
    }

    /// Writes a message to its line, after what is left of the previous one.
    private mutating func write(_ index: Int, to line: Int32) {
        let (slot, message) = (agenda.entries[index].slot, agenda.entries[index].message)
        var bytes = states[slot].unwritten
        bytes.append(message)
        let taken = machine.write(bytes, to: line)
        agenda.entries[index].wasRefused = taken != bytes.count
        agenda.entries[index].isLineBroken = taken == nil
        states[slot].unwritten = bytes.rest(afterTaking: taken ?? 0, of: message)
    }

    /// Notes whether a device accepted what it has been sent since the last receipt.
    ///
    /// - Returns: whether what follows must be planned again.
    mutating func receipt(_ slot: Int, _ wasRefused: Bool) -> Bool {
        guard wasRefused else { return states[slot].planner.taken() }
        counters[slot].dropped.add(1, ordering: .relaxed)
        return states[slot].planner.refused()
    }

    /// Notes that a message was sent.
    ///
    /// - Returns: true if it was so late that what follows must be planned again, since pulses must keep their
    ///   distance.
    mutating func note(_ index: Int, leftAt time: HostTime) -> Bool {
        let entry = agenda.entries[index]
        agenda.entries[index].hasLeft = true
        if entry.isLineBroken { counters[entry.slot].isLineBroken.store(true, ordering: .relaxed) }
        guard let planned = entry.planned else { return false }
        states[entry.slot].planner.sent(planned, at: time)
        let lateness = planned.due.microseconds(to: time)
        if planned.message == .timingClock {
            counters[entry.slot].countTick(lateness: lateness + planned.belated, at: time)
        }
        return lateness > Self.late
    }

    /// Discards what the witness has heard of our own sending, so that it always has room.
    private mutating func forgetHeard() {
        // While the queue may be sending, the witness's messages are still needed.
        guard machine.hasQueue, armed == nil else { return }
        while let count = machine.takeHeard(heard.start), count == SequencerSender.heardCapacity {}
    }
}
