internal import BeatTime
internal import MIDIClock
internal import RealTime

/// A message on its way out.
struct ScheduledMessage: BitwiseCopyable {
    var slot: Int
    var sink: Sink
    var message: ClockMessage
    /// What its planner is told once it has left; nil for a last word.
    var planned: PlannedMessage?
    /// When it is to leave; never before what goes before it to the same output.
    var due: HostTime
    /// When the queue would send it, in nanoseconds of queue time.
    var queueTime: Int64 = 0
    /// Whether it lies in the queue.
    var isArmed = false
    /// Names it there, together with those due at the same time.
    var tag: UInt8 = 0
    /// Whether it has left.
    var hasLeft = false
    /// Whether a receiver did not take it.
    var wasRefused = false
    /// Whether its line has failed for good.
    var isLineBroken = false

    /// The sequencer port it leaves from, if it does.
    var port: UInt8? {
        if case .port(let port) = sink { port } else { nil }
    }
}

/// What all outputs are going to send next, in order of time.
///
/// It looks ahead on copies of the planners; the planners themselves learn only of what has left. Nothing is allocated
/// after `init`.
struct Agenda: ~Copyable {
    /// Room for the messages, the next one first.
    let entries: PageArray<ScheduledMessage>
    private(set) var count = 0
    private(set) var plannedAt = HostTime(microseconds: .min)
    private let ahead: PageArray<Ahead>
    /// Whether the planners' copies are where the planners will be once everything here has left.
    private var isAheadValid = false

    /// The most messages of one output: those of 40 ms at the top of the tempo range, or of a group at any.
    static let capacityPerOutput = 16
    /// The most messages of all.
    private static let largestCapacity = 512

    /// A copy of an output's planner, and what it says comes next.
    ///
    /// Not private, because the compiler of Swift 6.3.1 then fails on ``PageArray`` of it.
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

    /// Keeps in memory what the first outputs need.
    ///
    /// - Parameter outputs: how many of them there are.
    /// - Returns: whether the system allowed it.
    func lockMemory(outputs: Int) -> Bool {
        entries.lock(first: min(outputs * Self.capacityPerOutput, entries.count)) && ahead.lock(first: outputs)
    }

    var isEmpty: Bool { count == 0 }

    /// Forgets everything.
    mutating func clear() { (count, isAheadValid) = (0, false) }

    /// Writes down the next messages of all outputs: those due next, and what follows within a span of time.
    ///
    /// If all that was written down before has left, what was found to follow it is not asked for again. Whoever has
    /// another board since, or other planners, has to ``clear()`` before.
    ///
    /// - Parameters:
    ///   - board: the timeline and the transport.
    ///   - states: what the outputs are to do, and what they have done.
    ///   - now: the present time.
    ///   - span: microseconds after the first message.
    mutating func plan(
        _ board: borrowing OutputBoard, _ states: borrowing PageArray<OutputState>, at now: HostTime, span: Int64
    ) {
        (count, plannedAt) = (0, now)
        var earliest: HostTime?
        for slot in 0..<board.count {
            ahead[slot].next = next(slot, board, states, now)
            ahead[slot].planner = states[slot].planner
            if let next = ahead[slot].next { earliest = min(earliest ?? next.due, next.due) }
        }
        isAheadValid = true
        let end = max(now, earliest ?? now).advanced(byMicroseconds: span)
        while let time = earliest, time <= end {
            earliest = takeAll(at: time, board, states, now)
        }
    }

    /// What an output sends next.
    private func next(
        _ slot: Int, _ board: borrowing OutputBoard, _ states: borrowing PageArray<OutputState>, _ now: HostTime
    ) -> PlannedMessage? {
        if isAheadValid, let known = ahead[slot].next, states[slot].planner.stillExpects(known, on: board.map, at: now)
        {
            return known
        }
        let plan = states[slot].slot.plan(board.transport)
        return states[slot].planner.next(plan, on: board.map, at: now)
    }

    /// Writes down all that is due at a time, and moves those outputs on.
    ///
    /// - Returns: when the next one is due; nil if there is none, or no room for it.
    private mutating func takeAll(
        at time: HostTime, _ board: borrowing OutputBoard, _ states: borrowing PageArray<OutputState>, _ now: HostTime
    ) -> HostTime? {
        var earliest: HostTime?
        for slot in 0..<board.count {
            while let next = ahead[slot].next, next.due <= time {
                guard count < entries.count else { return nil }
                entries[count] = ScheduledMessage(
                    slot: slot, sink: states[slot].slot.sink, message: next.message, planned: next, due: time)
                count += 1
                ahead[slot].planner.sent(next, at: max(time, now))
                let plan = states[slot].slot.plan(board.transport)
                ahead[slot].next = ahead[slot].planner.next(plan, on: board.map, at: max(time, now))
            }
            if let next = ahead[slot].next { earliest = min(earliest ?? next.due, next.due) }
        }
        return earliest
    }

    /// How many of the first messages are due by a time and do not lie in the queue.
    func countReady(by time: HostTime) -> Int {
        var ready = 0
        while ready < count, entries[ready].due <= time, !entries[ready].isArmed { ready += 1 }
        return ready
    }

    /// The first message that leaves from a sequencer port.
    var firstForPort: Int? {
        for index in 0..<count where entries[index].port != nil { return index }
        return nil
    }

    /// The first message in the queue that is due together with the first of all.
    var firstArmedOfGroup: Int? {
        for index in 0..<count {
            guard entries[index].due == entries[0].due else { return nil }
            if entries[index].isArmed { return index }
        }
        return nil
    }

    /// How many messages lie in the queue under a tag.
    func countArmed(under tag: UInt8) -> Int {
        var armed = 0
        for index in 0..<count where entries[index].isArmed && entries[index].tag == tag { armed += 1 }
        return armed
    }

    /// Whether an output has messages in the queue both under a tag and behind it.
    func hasFollowers(of tag: UInt8) -> Bool {
        var (first, later): (UInt64, UInt64) = (0, 0)
        for index in 0..<count where entries[index].isArmed {
            let output = UInt64(1) &<< UInt64(entries[index].slot)
            if entries[index].tag == tag { first |= output } else { later |= output }
        }
        return first & later != 0
    }

    /// When the first message that leaves elsewhere is due.
    var firstForLine: HostTime? {
        for index in 0..<count where entries[index].port == nil { return entries[index].due }
        return nil
    }

    /// When the last message is due that follows a given one within a span.
    func groupEnd(from index: Int, span: Int64) -> HostTime {
        let end = entries[index].due.advanced(byMicroseconds: span)
        var last = index
        while last + 1 < count, entries[last + 1].due <= end { last += 1 }
        return entries[last].due
    }

    /// Replaces everything by the last words to devices that play.
    mutating func end(_ board: borrowing OutputBoard, _ planners: borrowing PageArray<OutputState>, at now: HostTime) {
        clear()
        for slot in 0..<board.count {
            guard let last = planners[slot].planner.finish() else { continue }
            entries[count] = ScheduledMessage(
                slot: slot, sink: board.slots[slot].sink, message: last, planned: nil, due: now)
            count += 1
        }
    }

    /// Takes out what has left.
    mutating func removeDeparted() {
        var kept = 0
        for index in 0..<count where !entries[index].hasLeft {
            if kept != index { entries[kept] = entries[index] }
            kept += 1
        }
        count = kept
    }
}
