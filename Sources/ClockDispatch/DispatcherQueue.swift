internal import ALSASequencer
internal import BeatTime
internal import MIDIClock
internal import RealTime

/// Starting the queue, and putting messages into it.
extension Dispatcher where Machine: ~Copyable {
    /// Least number of periods from the queue's start to the first message: it takes some to see when it has started.
    private static var leastPeriods: Int64 { 8 }

    /// How long another program's timer may keep the queue from starting, in nanoseconds; a slower one is of no use.
    private static var longestStart: Int64 { 50_000_000 }
    /// The most messages that are put into the queue at once: what the thread sends itself does not wait for more.
    private static var mostAtOnce: Int { 64 }

    /// Does one step of what the queue needs.
    ///
    /// - Parameters:
    ///   - now: the present time.
    ///   - own: when the thread must send something itself.
    /// - Returns: when to continue; nil if there is more to do now.
    mutating func handleQueue(at now: MonotonicTime, own: MonotonicTime) -> MonotonicTime? {
        guard let first = firstForQueue() else { return endRun(at: now) }
        guard let queue else { return startRun(at: now, own: own) }
        guard queue.origin != nil else {
            guard now < queue.called.advanced(byNanoseconds: Self.longestStart) else { return giveUp(at: now) }
            guard now >= queue.nextReading else { return queue.nextReading }
            readStatus(at: now)
            return nil
        }
        let entering = states[first].due.advanced(byNanoseconds: -lead)
        // Once everything has left, there may be time to start anew.
        if queue.lastLeaves.advanced(byNanoseconds: 3 * QueueRun.period) < entering { return endRun(at: now) }
        guard now >= entering else { return entering }
        if now >= queue.nextReading { readStatus(at: now) }
        return putIn(at: now)
    }

    /// The output whose next message is the first from a time on that may go through the queue; nil if there is none.
    private func firstForQueue(from time: MonotonicTime = MonotonicTime(nanoseconds: .min)) -> Int? {
        var first: Int?
        for slot in 0..<shared.outputs where states[slot].next != nil && states[slot].isForQueue {
            guard states[slot].due >= time else { continue }
            if first.map({ states[slot].due < states[$0].due }) ?? true { first = slot }
        }
        return first
    }

    /// Starts the queue so that one of its periods ends exactly when the first message is due that it can still send.
    ///
    /// What is due sooner, the thread sends itself.
    ///
    /// - Returns: when to continue; nil if it has been started.
    private mutating func startRun(at now: MonotonicTime, own: MonotonicTime) -> MonotonicTime? {
        let soonest = now.advanced(byNanoseconds: Self.leastPeriods * QueueRun.period)
        guard now >= refusedUntil, let first = firstForQueue(from: soonest) else {
            return MonotonicTime(nanoseconds: .max)
        }
        let aim = states[first].due
        let periods = min(aim.nanoseconds - now.nanoseconds, lead) / QueueRun.period
        let start = aim.advanced(byNanoseconds: -periods * QueueRun.period)
        // What the thread must send before that comes first.
        guard own > start else { return MonotonicTime(nanoseconds: .max) }
        let early = start.advanced(byNanoseconds: -punctuality.margin)
        // No sleep of less than a period: after a late wake-up the thread takes the next period instead.
        guard now.advanced(byNanoseconds: QueueRun.period) >= early else { return early }
        let called = wait(until: start)
        guard machine.startQueue() else {
            refusedUntil = aim
            return nil
        }
        queue = QueueRun(called: called, returned: machine.monotonicTime())
        for slot in 0..<shared.outputs { (states[slot].period, states[slot].ticksQueued) = (0, 0) }
        return nil
    }

    /// Stops the queue once it is empty: while it runs, its timer interrupts the processor 6250 times a second.
    ///
    /// - Returns: when to continue; nil if it has been stopped.
    private mutating func endRun(at now: MonotonicTime) -> MonotonicTime? {
        guard let queue else { return MonotonicTime(nanoseconds: .max) }
        let end = queue.lastLeaves.advanced(byNanoseconds: 2 * QueueRun.period)
        guard now >= end else { return end }
        guard machine.isQueueEmpty else { return now.advanced(byNanoseconds: QueueRun.period) }
        readStatus(at: now)
        stopQueue()
        return nil
    }

    /// Stops a queue that does not start, and sends without it for a second.
    private mutating func giveUp(at now: MonotonicTime) -> MonotonicTime? {
        stopQueue()
        refusedUntil = now.advanced(byNanoseconds: 1_000_000_000)
        return nil
    }

    private mutating func readStatus(at now: MonotonicTime) {
        guard let before = queue else { return }
        let status = machine.queueStatus()
        queue?.read(status, at: now)
        if let origin = before.origin, let status {
            noteSlowTimer(status.origin.lowerBound.nanoseconds - origin.nanoseconds, at: now)
        } else if let origin = queue?.origin {
            punctuality.wasDelayed(by: origin.nanoseconds - before.called.nanoseconds)
        }
    }

    /// Counts what was put into the queue since the last reading as late if the timer was so slow that it was.
    private mutating func noteSlowTimer(_ delay: Int64, at now: MonotonicTime) {
        for slot in 0..<shared.outputs where states[slot].ticksQueued > 0 {
            if RecentTicks.isLate(delay / 1_000) {
                let time = reading.hostTime(of: now)
                counters[slot].countLate(states[slot].ticksQueued, lateness: delay / 1_000, at: time)
            }
            states[slot].ticksQueued = 0
        }
    }

    /// Puts everything that is due soon into the queue.
    ///
    /// - Returns: when to continue; nil if something was put in.
    private mutating func putIn(at now: MonotonicTime) -> MonotonicTime? {
        guard var queue else { return nil }
        let room = min(machine.room, Self.mostAtOnce)
        guard room > 0 else { return now.advanced(byNanoseconds: Self.groupSpan) }
        let end = now.advanced(byNanoseconds: lead + Self.groupSpan)
        var count = 0
        while count < room, let slot = firstForQueue(), states[slot].due <= end, let next = states[slot].next {
            // A Stop comes right behind what starts its device; everything else comes after what is in the queue.
            let isStop = next.message == .clock(.stop)
            let due = isStop ? max(states[slot].due, now.advanced(byNanoseconds: QueueRun.period)) : states[slot].due
            let period = max(isStop ? 1 : states[slot].period, queue.period(endingNear: due))
            let leaves = queue.end(ofPeriod: period)
            guard leaves > now else { break }
            batch[count] = ScheduledMessage(
                slot: slot, sink: states[slot].slot.sink, message: next.message, planned: next,
                queueTime: QueueRun.stamp(ofPeriod: period))
            count += 1
            queue.lastLeaves = max(queue.lastLeaves, leaves)
            enters(slot, next, period: period, leaves: leaves)
        }
        self.queue = queue
        // Too late: the thread sends what is due first itself.
        guard count > 0 else { return now.advanced(byNanoseconds: QueueRun.period) }
        let taken = machine.enqueue(UnsafeMutableBufferPointer(start: batch.start, count: count))
        for index in taken..<max(taken, count) {
            refused(batch[index].slot)
            plan(batch[index].slot)
        }
        return nil
    }

    /// Counts a message that is put into the queue as sent.
    private mutating func enters(_ slot: Int, _ next: StreamEvent, period: Int64, leaves: MonotonicTime) {
        states[slot].period = max(states[slot].period, period)
        states[slot].leaves = max(states[slot].leaves, leaves)
        switch next.message {
        case .clock(.timingClock), .timeCode: states[slot].ticksQueued += 1
        case .clock(.stop): states[slot].stops = leaves
        case .clock(.start), .clock(.continue), .clock(.songPosition): states[slot].moves = leaves
        }
        if next.isImportant { states[slot].receipt = states[slot].leaves }
        sent(slot, next, at: reading.hostTime(of: leaves))
        plan(slot)
    }
}
