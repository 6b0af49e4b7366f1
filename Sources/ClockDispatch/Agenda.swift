internal import BeatTime
internal import MIDIClock
internal import RealTime

/// A message that is due soon.
struct ScheduledMessage: BitwiseCopyable {
    var slot: Int
    var sink: Sink
    var message: ClockMessage
    /// The message as its planner gave it, to report once sent; nil for a final Stop.
    var planned: PlannedMessage?
    /// When to send it; never before earlier messages of the same output.
    var due: HostTime
    /// When the queue would send it, in nanoseconds of queue time.
    var queueTime: Int64 = 0
    /// Whether it waits in the queue.
    var isArmed = false
    /// Its tag in the queue, shared with messages due at the same time.
    var tag: UInt8 = 0
    /// Whether it has been sent.
    var hasLeft = false
    /// Whether a receiver refused it.
    var wasRefused = false
    /// Whether its line has failed for good.
    var isLineBroken = false

    /// Whether it is in the queue, as far as is known.
    var isWaiting: Bool { isArmed && !hasLeft }

    /// The sequencer port to send it from; nil if it goes to a line or nowhere.
    var port: UInt8? {
        if case .port(let port) = sink { port } else { nil }
    }
}

/// What holds for all outputs.
struct SharedPlan: BitwiseCopyable {
    /// Where ticks fall.
    var map: TempoMap
    var transport: PlannedTransport
    /// The number of outputs.
    var outputs: Int
}

/// The next messages of all outputs, in order of time.
///
/// The agenda looks ahead on copies of the planners. The planners themselves are told only what has been sent. Nothing
/// is allocated after `init`.
struct Agenda: ~Copyable {
    /// Storage for the messages, the next one first.
    let entries: PageArray<ScheduledMessage>
    private(set) var count = 0
    private(set) var plannedAt = HostTime(microseconds: .min)
    private let ahead: PageArray<Ahead>
    /// Whether the copies of the planners are as the planners will be when everything here has been sent.
    private var isAheadValid = false

    /// The room that each output adds: at 999 BPM 80 ms of messages, a group and the lead at their longest.
    static let capacityPerOutput = 32
    /// Most messages of all outputs together.
    private static let largestCapacity = 512

    /// A copy of an output's planner, and the next message it gives.
    ///
    /// Not private: the compiler of Swift 6.3.1 crashes on a ``PageArray`` of a private type.
    struct Ahead: BitwiseCopyable {
        var planner = TickPlanner()
        var next: PlannedMessage?
    }

    init(outputs: Int) {
        let outputs = max(1, outputs)
        let nothing = ScheduledMessage(slot: 0, sink: .away, message: .timingClock, due: HostTime(microseconds: 0))
        entries = PageArray(count: min(outputs * Self.capacityPerOutput, Self.largestCapacity)) { _ in nothing }
        ahead = PageArray(count: outputs) { _ in Ahead() }
    }

    /// Locks in memory what the first outputs need.
    ///
    /// - Parameter outputs: the number of outputs.
    /// - Returns: whether the system allowed it.
    func lockMemory(outputs: Int) -> Bool {
        entries.lock(first: min(outputs * Self.capacityPerOutput, entries.count)) && ahead.lock(first: outputs)
    }

    var isEmpty: Bool { count == 0 }

    /// Forgets everything.
    mutating func clear() { (count, isAheadValid) = (0, false) }

    /// Plans the next messages of all outputs but the silent ones: the first due, and those that follow within a span.
    ///
    /// What is here already is kept, and only what else is due within the span is added; but if one output's planner might
    /// give another message by now, all is planned anew. Call ``clear()`` first if the plan has changed, or if a planner
    /// was told anything but what was sent and accepted.
    ///
    /// - Parameters:
    ///   - shared: the plan of all outputs.
    ///   - states: the outputs' own plans and planners.
    ///   - now: the present time.
    ///   - span: length of the span after the first message, in microseconds.
    mutating func plan(
        _ shared: SharedPlan, _ states: borrowing PageArray<OutputState>, at now: HostTime, span: Int64
    ) {
        plannedAt = now
        var isKept = isAheadValid
        for slot in 0..<shared.outputs where isKept {
            isKept = isExpected(slot, states[slot], on: shared.map, at: now)
        }
        if !isKept { count = 0 }
        var earliest: HostTime?
        for slot in 0..<shared.outputs {
            if !isKept {
                let plan = states[slot].slot.plan(shared.transport)
                let isSilent = states[slot].slot.sink == .away
                ahead[slot].next = isSilent ? nil : states[slot].planner.next(plan, on: shared.map, at: now)
                ahead[slot].planner = states[slot].planner
            }
            if let next = ahead[slot].next { earliest = min(earliest ?? next.due, next.due) }
        }
        isAheadValid = true
        let end = max(now, isEmpty ? earliest ?? now : entries[0].due).advanced(byMicroseconds: span)
        while let time = earliest, time <= end {
            earliest = takeAll(at: time, shared, states, now)
        }
    }

    /// Whether an output's planner certainly gives the first message of that output here.
    ///
    /// One that is out of step may have something to send again, because its device has refused what was sent last.
    private func isExpected(_ slot: Int, _ state: OutputState, on map: TempoMap, at now: HostTime) -> Bool {
        let first = (0..<count).first { entries[$0].slot == slot }
        let known = first.map { entries[$0].planned } ?? ahead[slot].next
        return known.map { state.planner.stillExpects($0, of: ahead[slot].planner, on: map, at: now) }
            ?? (state.slot.sink == .away || state.planner.step == .inStep)
    }

    /// Adds all messages due at a time, and advances the copies of those outputs' planners.
    ///
    /// - Returns: when the next message is due; nil if there is none, or no room for it.
    private mutating func takeAll(
        at time: HostTime, _ shared: SharedPlan, _ states: borrowing PageArray<OutputState>, _ now: HostTime
    ) -> HostTime? {
        var earliest: HostTime?
        for slot in 0..<shared.outputs {
            while let next = ahead[slot].next, next.due <= time {
                guard count < entries.count else { return nil }
                entries[count] = ScheduledMessage(
                    slot: slot, sink: states[slot].slot.sink, message: next.message, planned: next, due: time)
                count += 1
                ahead[slot].planner.sent(next, at: max(time, now))
                let plan = states[slot].slot.plan(shared.transport)
                ahead[slot].next = ahead[slot].planner.next(plan, on: shared.map, at: max(time, now))
            }
            if let next = ahead[slot].next { earliest = min(earliest ?? next.due, next.due) }
        }
        return earliest
    }

    /// The number of first messages that are due by a time and are not in the queue.
    func countReady(by time: HostTime) -> Int {
        (0..<count).prefix { entries[$0].due <= time && !entries[$0].isArmed }.count
    }

    /// Whether all messages are due at the same time.
    var isOneMoment: Bool { count == 0 || entries[0].due == entries[count - 1].due }

    /// The index of the first message that leaves from a sequencer port.
    var firstForPort: Int? { (0..<count).first { entries[$0].port != nil } }

    /// The index of the last message that is due within a span after a given one.
    ///
    /// A group takes no more than half of the room: the other half is for what the queue sends if the thread is held up.
    func lastOfGroup(from index: Int, span: Int64) -> Int {
        let end = entries[index].due.advanced(byMicroseconds: span)
        let most = min(count, entries.count / 2)
        return max(index, (0..<most).last { entries[$0].due <= end } ?? index)
    }

    /// Replaces everything by a final Stop for each device that plays.
    mutating func end(outputs: Int, _ states: borrowing PageArray<OutputState>, at now: HostTime) {
        clear()
        for slot in 0..<outputs {
            guard let last = states[slot].planner.finish() else { continue }
            entries[count] = ScheduledMessage(
                slot: slot, sink: states[slot].slot.sink, message: last, planned: nil, due: now)
            count += 1
        }
    }

    /// Removes the messages that have been sent.
    mutating func removeDeparted() {
        var kept = 0
        for index in 0..<count where !entries[index].hasLeft {
            if kept != index { entries[kept] = entries[index] }
            kept += 1
        }
        count = kept
    }
}
