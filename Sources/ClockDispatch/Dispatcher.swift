internal import ALSASequencer
internal import BeatTime
internal import MIDIClock
internal import RealTime
internal import Synchronization

/// What the output thread knows of one output.
struct OutputState: BitwiseCopyable {
    var planner = TickPlanner()
    /// What it is to do, by the newest board: taken from there once, because an index into its array copies all of it.
    var slot = OutputBoard.Slot()
    /// ``OutputBoard/Slot/occupant`` when this state was last reset; a different number means another output.
    var occupant: UInt32 = 0
    /// As ``OutputBoard/Slot/connections`` counted when the planner last heard of a device.
    var connections: UInt32 = 0
    /// As ``OutputBoard/Slot/realigning`` was when the planner was last told to realign.
    var realigning = OutputBoard.Realigning()
    /// What its line has not taken of a message that it has begun to take.
    var unwritten = LineBytes()
}

/// Sees to it that every message leaves exactly once, and on time.
///
/// Some milliseconds before messages are due it lays them into the sequencer's queue, for the time they are due. The
/// thread wakes a little earlier, takes them back and sends them itself at the due time.
/// If the thread cannot run, the queue sends them, from the timer's interrupt. Which of the two has happened is never
/// guessed: before the queue's earliest moment nothing can have left, and after it the witness has heard what did.
/// Planners learn only of what has left, so nothing is lost by a change of plans.
///
/// It owns its memory, which is fixed; the machine is a parameter, so that tests can interleave everything.
struct Dispatcher<Machine: DispatchMachine & ~Copyable>: ~Copyable {
    var machine: Machine
    private(set) var mode: DispatchMode
    let outputs: Int
    let states: PageArray<OutputState>
    /// The outputs' counters, which somebody else owns.
    let counters: UnsafeMutablePointer<OutputCounters>
    let heard: PageArray<SequencerSender.Heard>
    var agenda: Agenda
    var reading: ClockReading
    var latency = WakeUpLatency()
    var foreignTimers = ForeignTimers()
    var generation: UInt64?
    /// The sequencer ports that are to exist, one bit each.
    private var wantedPorts: UInt64 = 0
    /// What lies in the queue; nil if nothing does.
    var armed: Armed?
    /// The tag given last; never 0.
    var tag: UInt8 = 0
    var isQueueRunning = false
    var isPacemakerRunning = false

    struct Armed: BitwiseCopyable {
        /// When the queue was started, at the earliest.
        var start: MonotonicTime
        /// Upper bound on how late the queue started, in nanoseconds.
        var delay: Int64
        var grid: QueueGrid
        /// Nothing can leave the queue before.
        var earliest: MonotonicTime
        /// When the first group will usually have left.
        var groupEnd: MonotonicTime
    }

    /// How much of its usual latency the thread allows for at most when it wakes to start the queue, in nanoseconds:
    /// half as early costs half as much, and a wake-up too late for one period is early for the next.
    static var longestArmingMargin: Int64 { 20_000 }
    /// How long after waking it is ready to start the queue, in nanoseconds, which it allows for besides; who allows less
    /// misses the period it woke for, and spends all of the next one awake.
    static var armingWork: Int64 { 15_000 }
    /// How long before it leaves a message is laid into the queue at most, in nanoseconds: so long the thread may be
    /// held up, and so long an outdated plan may stay in force while it is.
    static func horizon(_ mode: DispatchMode) -> Int64 { mode == .queue ? 40_000_000 : 5_000_000 }
    /// How far apart messages of one group are at most, in microseconds: a Start, say, and its tick.
    static var groupSpan: Int64 { 2_500 }
    /// If starting the queue, and writing each message, takes longer, in nanoseconds, the thread was held up on the
    /// way.
    static var longStart: Int64 { 40_000 }
    static var longMessage: Int64 { 4_000 }
    /// How long before messages are due they are taken back, in nanoseconds: until then the queue covers them.
    static var takingBack: Int64 { 20_000 }
    /// With less time than that, in nanoseconds, they are left to the queue: taking back and finding out which of the
    /// two was first would make them later than the queue ever does.
    static var shortestTakingBack: Int64 { 8_000 }
    /// How long after the first message of a batch each further one usually leaves, in nanoseconds.
    static var furtherMessage: Int64 { 2_000 }
    /// How long after a period's end its messages have left, in nanoseconds.
    static var flight: Int64 { 3_000 }
    /// Longest busy-wait per turn, and the pause that follows it, in nanoseconds.
    ///
    /// Keeps other threads alive when there is more to send than time.
    static var longestTurn: Int64 { 2_000_000 }
    static var yieldTime: Int64 { 300_000 }
    /// With nothing to send, the board is looked at that often, in nanoseconds, though it announces its changes.
    static var longestSleep: Int64 { 1_000_000_000 }
    /// What leaves later than that, in microseconds, may bring forth another plan.
    static var late: Int64 { 100 }
    /// So much time a port is given to be made in, in nanoseconds; it takes a tenth of that.
    static var portChange: Int64 { 500_000 }
    /// A wake-up later than that, in nanoseconds, shows that direct dispatch needs the backstop.
    static var lateWakeUp: Int64 { 100_000 }

    /// Prepares for a number of outputs, as many as there are counters.
    ///
    /// - Parameters:
    ///   - machine: what to dispatch by, until ``relinquish()``.
    ///   - mode: who sends.
    ///   - counters: of the outputs; they have to outlive the dispatcher.
    init(machine: consuming Machine, mode: DispatchMode, counters: borrowing PageArray<OutputCounters>) {
        self.mode = mode
        outputs = counters.count
        self.counters = counters.start
        states = PageArray(count: max(1, outputs)) { _ in OutputState() }
        heard = PageArray(count: SequencerSender.heardCapacity) { _ in .init(port: 0, tag: 0, queueTime: 0) }
        agenda = Agenda(outputs: outputs)
        reading = machine.reading(after: nil)
        self.machine = machine
    }

    /// Ends the dispatcher, and gives back what it dispatched by.
    consuming func relinquish() -> Machine { machine }

    /// Keeps in memory what the first outputs need.
    ///
    /// - Parameter outputs: how many of them there are.
    /// - Returns: whether the system allowed it.
    func lockMemory(outputs: Int) -> Bool {
        states.lock(first: outputs) && heard.lock(first: heard.count) && agenda.lockMemory(outputs: outputs)
    }

    /// Learns from a timed sleep.
    ///
    /// - Parameters:
    ///   - lateness: how long after the time asked for it ended, in nanoseconds.
    ///   - isChoiceFree: whether the mode may be changed for it.
    mutating func wokeUp(lateness: Int64, isChoiceFree: Bool) {
        latency.learn(lateness)
        if latency.wantsLook { latency.look(otherThreads: machine.countOtherThreads()) }
        if isChoiceFree, mode == .direct, machine.hasQueue, lateness > Self.lateWakeUp { mode = .backstop }
    }

    /// Does what is to be done now.
    ///
    /// - Parameter board: what the outputs are to do.
    /// - Returns: when to be called again at the latest; at once if the board changes.
    mutating func turn(_ board: borrowing OutputBoard) -> MonotonicTime {
        let newest = board.generation
        if mode == .queue || generation != newest { disarm() }
        // In queue mode everything has been taken back, so plan as far ahead as ever.
        if mode == .queue { agenda.clear() }
        if generation != newest { takeNews(board) }
        reading = machine.reading(after: reading)
        let turnEnd = reading.monotonic.advanced(byNanoseconds: Self.longestTurn)
        while true {
            if agenda.isEmpty { plan(board) }
            guard !agenda.isEmpty else {
                return pause(until: reading.monotonic.advanced(byNanoseconds: Self.longestSleep))
            }
            let due = reading.monotonicTime(of: agenda.entries[0].due)
            let hasQueue = mode != .direct && machine.hasQueue && agenda.entries[0].port != nil
            let wakeUpMargin = latency.wakeUpMargin(tickLength: board.map.line.tickLength, hasQueue: hasQueue)
            if let deadline = queueUp(firstDue: due, wakeUpMargin: wakeUpMargin) { return deadline }
            // What the queue can no longer cover is waited for awake.
            let isCovered = !hasQueue || agenda.entries[0].isArmed
            let nearness = isCovered ? wakeUpMargin : max(wakeUpMargin, QueueGrid.period)
            let now = machine.monotonicTime()
            guard now.advanced(byNanoseconds: nearness) >= due else {
                return pauseDirect(now: now, until: due.advanced(byNanoseconds: -wakeUpMargin))
            }
            while agenda.firstArmedOfGroup != nil,
                machine.monotonicTime() < due.advanced(byNanoseconds: -Self.takingBack)
            {}
            if takeBackFirst() { sendFirst(awakeSince: reading.hostTime) }
            if now > turnEnd { return pause(until: now.advanced(byNanoseconds: Self.yieldTime)) }
        }
    }

    /// Makes or deletes one sequencer port if one is to be, and there is time for it before the next message.
    ///
    /// - Parameter deadline: when there is something to do again.
    /// - Returns: whether it did, and the time has to be looked at again.
    mutating func changePort(before deadline: MonotonicTime) -> Bool {
        // One that is wanted no more need not be refused any longer, either.
        let change = (machine.existingPorts | machine.refusedPorts) ^ wantedPorts
        guard change != 0, machine.monotonicTime().advanced(byNanoseconds: Self.portChange) < deadline else {
            return false
        }
        let port = change.trailingZeroBitCount
        machine.setPort(UInt8(port), exists: wantedPorts >> UInt64(port) & 1 == 1)
        return true
    }

    /// Takes everything back and says the last words.
    mutating func finish(_ board: borrowing OutputBoard) {
        disarm()
        agenda.end(board, states, at: machine.hostTime())
        send(agenda.count)
        for slot in 0..<board.count { report(slot) }
        if isPacemakerRunning { setPacemaker(false) }
    }

    mutating func pause(until deadline: MonotonicTime) -> MonotonicTime {
        if isQueueRunning, armed == nil {
            machine.stopQueue()
            isQueueRunning = false
        }
        return deadline
    }

    /// A long sleep is cut short once, to look at the clocks again: their rates may change meanwhile.
    private mutating func pauseDirect(now: MonotonicTime, until deadline: MonotonicTime) -> MonotonicTime {
        let isLong = deadline.nanoseconds - now.nanoseconds > 50_000_000
        return pause(until: isLong ? deadline.advanced(byNanoseconds: -25_000_000) : deadline)
    }

    // Planning

    private mutating func takeNews(_ board: borrowing OutputBoard) {
        generation = board.generation
        agenda.clear()
        wantedPorts = board.ports
        for slot in 0..<board.count { takeNews(of: slot, board) }
    }

    private func takeNews(of slot: Int, _ board: borrowing OutputBoard) {
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
    }

    private mutating func plan(_ board: borrowing OutputBoard) {
        let span = mode == .queue ? Self.horizon(.queue) / 1000 : Self.groupSpan
        agenda.plan(board, states, at: machine.hostTime(), span: span)
        for slot in 0..<board.count { report(slot) }
    }

    /// Says where an output's device is.
    private func report(_ slot: Int) {
        counters[slot].step.store(states[slot].planner.step.rawValue, ordering: .relaxed)
        counters[slot].mayPlay.store(states[slot].planner.mayPlay, ordering: .relaxed)
    }

    // Sending

    /// Waits awake for the first messages to be due and sends them.
    private mutating func sendFirst(awakeSince: HostTime) {
        var now = machine.hostTime()
        while now < agenda.entries[0].due { now = machine.hostTime() }
        // After a stall there may be other things to do than what was planned before it.
        let isStale = agenda.plannedAt < awakeSince
        guard !isStale || agenda.entries[0].due.microseconds(to: now) <= Self.late else { return planAnew() }
        send(agenda.countReady(by: now))
    }

    /// Takes back what follows, and plans it again.
    private mutating func planAnew() {
        disarm()
        agenda.clear()
    }

    /// Sends the first messages, none of which lies in the queue.
    private mutating func send(_ count: Int) {
        let now = machine.hostTime()
        let stopsQueue = isQueueRunning && armed == nil
        if stopsQueue { isQueueRunning = false }
        machine.send(UnsafeMutableBufferPointer(start: agenda.entries.start, count: count), stoppingQueue: stopsQueue)
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

    /// Writes a message to its line, after what is left of the one before.
    private mutating func write(_ index: Int, to line: Int32) {
        let (slot, message) = (agenda.entries[index].slot, agenda.entries[index].message)
        var bytes = states[slot].unwritten
        bytes.append(message)
        let taken = machine.write(bytes, to: line)
        agenda.entries[index].wasRefused = taken != bytes.count
        agenda.entries[index].isLineBroken = taken == nil
        states[slot].unwritten = bytes.rest(afterTaking: taken ?? 0, of: message)
    }

    /// Notes whether a device took what has been sent to it since the last receipt.
    ///
    /// - Returns: whether what follows is to be planned anew.
    mutating func receipt(_ slot: Int, _ wasRefused: Bool) -> Bool {
        guard wasRefused else { return states[slot].planner.taken() }
        counters[slot].dropped.add(1, ordering: .relaxed)
        return states[slot].planner.refused()
    }

    /// Notes that a message has left.
    ///
    /// - Returns: whether so late that what follows, which may have to keep its distance, is to be planned anew.
    mutating func note(_ index: Int, leftAt time: HostTime) -> Bool {
        let entry = agenda.entries[index]
        agenda.entries[index].hasLeft = true
        if entry.isLineBroken { counters[entry.slot].isLineBroken.store(true, ordering: .relaxed) }
        guard let planned = entry.planned else { return false }
        states[entry.slot].planner.sent(planned, at: time)
        let lateness = planned.due.microseconds(to: time)
        if planned.message == .timingClock, entry.sink != .away {
            counters[entry.slot].countTick(lateness: lateness + planned.belated, at: time)
        }
        return lateness > Self.late
    }

    /// Reads away what the witness has heard of our own sending, so that it always has room.
    private mutating func forgetHeard() {
        // What the queue may be sending meanwhile is still to be asked for.
        guard machine.hasQueue, armed == nil else { return }
        while let count = machine.takeHeard(heard.start), count == SequencerSender.heardCapacity {}
    }
}
