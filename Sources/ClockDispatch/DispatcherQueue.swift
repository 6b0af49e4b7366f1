internal import ALSASequencer
internal import BeatTime
internal import RealTime

/// Putting messages into the queue, taking them back, and finding out which have left it.
extension Dispatcher where Machine: ~Copyable {
    /// Puts the first messages, and those due soon after them, into the queue when it is time.
    ///
    /// - Parameters:
    ///   - firstDue: when the first message of all is due.
    ///   - wakeUpMargin: how long before that to wake, in nanoseconds.
    /// - Returns: when to continue; nil if the queue cannot help with the first message.
    mutating func queueUp(firstDue: MonotonicTime, wakeUpMargin: Int64) -> MonotonicTime? {
        guard mode != .direct, machine.hasQueue, let first = agenda.firstForPort else { return nil }
        let wakeUp = firstDue.advanced(byNanoseconds: -wakeUpMargin)
        if armed != nil, agenda.entries[first].isArmed { return machine.monotonicTime() < wakeUp ? wakeUp : nil }
        let group = agenda.groupEnd(from: first, span: Self.groupSpan)
        let lead = Self.horizon(mode) - agenda.entries[first].due.microseconds(to: group) * 1000
        let aim = aim(of: first)
        for _ in 0..<3 {
            let now = machine.monotonicTime()
            // A first message that does not go through the queue is sent by the thread, in every mode.
            let isInTime = now < wakeUp || mode == .queue && first == 0
            guard isInTime, let grid = QueueGrid(aimingAt: aim, from: now, lead: lead) else { return nil }
            // No sleep of less than a period: after a late wake-up the thread takes the next period instead of sleeping
            // again.
            let early = grid.start.advanced(
                byNanoseconds: -min(wakeUpMargin, Self.longestArmingMargin) - Self.armingWork)
            if now.advanced(byNanoseconds: QueueGrid.period) < early { return pause(until: min(early, wakeUp)) }
            if arm(grid.clearOfKernelTick(before: wakeUp), aim: aim, group: group) { break }
            // The thread was held up, so the queue's periods end late by as much: try once more.
            disarm()
        }
        guard let armed else { return nil }
        guard mode == .queue else { return wakeUp }
        guard let line = agenda.firstForLine else { return armed.groupEnd }
        return min(armed.groupEnd, reading.monotonicTime(of: line).advanced(byNanoseconds: -wakeUpMargin))
    }

    /// When the queue must send a message.
    private func aim(of index: Int) -> MonotonicTime {
        reading.monotonicTime(of: agenda.entries[index].due)
    }

    /// Starts the queue with all messages within the horizon.
    ///
    /// - Returns: true if the queue was started, and so quickly that nothing held the thread up meanwhile.
    private mutating func arm(_ grid: QueueGrid, aim: MonotonicTime, group: HostTime) -> Bool {
        let end = grid.start.advanced(byNanoseconds: Self.horizon(mode))
        var count = 0
        while count < agenda.count {
            let aim = self.aim(of: count)
            guard aim <= end else { break }
            if count == 0 || agenda.entries[count].due != agenda.entries[count - 1].due {
                tag = tag == .max ? 1 : tag + 1
            }
            agenda.entries[count].tag = tag
            agenda.entries[count].queueTime = grid.stamp(notBefore: aim)
            count += 1
        }
        var before = machine.monotonicTime()
        while before < grid.start { before = machine.monotonicTime() }
        guard machine.startQueue() else { return false }
        isQueueRunning = true
        let delay = machine.monotonicTime().nanoseconds - grid.start.nanoseconds
        machine.arm(UnsafeMutableBufferPointer(start: agenda.entries.start, count: count))
        armed = Armed(
            start: before, delay: delay, grid: grid, earliest: grid.periodEnd(ofStamp: grid.stamp(notBefore: aim)),
            groupEnd: reading.monotonicTime(of: group).advanced(byNanoseconds: 3 * QueueGrid.period + delay))
        let spent = machine.monotonicTime().nanoseconds - grid.start.nanoseconds
        return spent < Self.longStart + Int64(count) * Self.longMessage
    }

    /// Takes back the messages that the thread sends next, if time allows; later ones stay in the queue.
    ///
    /// Otherwise everything is taken back, and the agenda may have changed.
    ///
    /// - Returns: whether the thread is to send the first messages.
    mutating func takeBackFirst() -> Bool {
        guard let armed, let first = agenda.firstArmedOfGroup else { return true }
        let isInTime = machine.monotonicTime() < armed.earliest.advanced(byNanoseconds: -Self.shortestTakeBackMargin)
        let tag = agenda.entries[first].tag
        let further = Int64(agenda.countArmed(under: tag) - 1) * Self.timePerMessage
        guard isInTime, !isQueueSafer(armed, further: further) else {
            leaveToQueue(armed, further: further)
            return false
        }
        guard !agenda.hasFollowers(of: tag) else {
            // Take back everything. If only the first were taken back, a later message of its output might overtake it.
            disarm()
            return false
        }
        if foreignTimers.wantsMeasurement() { measureDelay(of: armed) }
        machine.removeQueued(tag: tag)
        // The queue was started after `armed.start`, so it cannot have sent anything before `earliest`.
        guard machine.monotonicTime() < armed.earliest else {
            disarm()
            return false
        }
        var next = 0
        while next < agenda.count, agenda.entries[next].tag == tag || !agenda.entries[next].isArmed {
            agenda.entries[next].isArmed = false
            next += 1
        }
        guard next < agenda.count else {
            self.armed = nil
            return true
        }
        let earliest = armed.grid.periodEnd(ofStamp: agenda.entries[next].queueTime)
        self.armed?.earliest = earliest
        return true
    }

    /// Whether the kernel's own timer tick falls between taking back and delivery.
    ///
    /// That tick delays a thread, but not the queue's interrupt. A queue that may itself be late is not safer.
    ///
    /// `further` is the time from the first message to the last one, in nanoseconds.
    private func isQueueSafer(_ armed: Armed, further: Int64) -> Bool {
        !isPacemakerRunning && armed.delay < Self.takeBackMargin / 2
            && KernelTick.falls(
                after: armed.earliest.advanced(byNanoseconds: -Self.takeBackMargin),
                until: armed.earliest.advanced(byNanoseconds: KernelTick.write + further))
    }

    /// Waits until the queue has sent its next messages, and checks that it really has.
    private mutating func leaveToQueue(_ armed: Armed, further: Int64) {
        let end = armed.earliest.advanced(byNanoseconds: armed.delay + Self.deliveryTime + further)
        while machine.monotonicTime() < end {}
        disarm()
    }

    /// Takes back everything from the queue, and finds out what has left it.
    mutating func disarm() {
        guard let armed else { return }
        self.armed = nil
        if foreignTimers.wantsMeasurement() { measureDelay(of: armed) }
        machine.removeQueued()
        if machine.monotonicTime() >= armed.earliest { settle(armed) }
        for index in 0..<agenda.count { agenda.entries[index].isArmed = false }
    }

    /// Measures how late the queue started, and runs the pacemaker if that helps.
    private mutating func measureDelay(of armed: Armed) {
        guard let origin = machine.queueOrigin() else { return }
        let delay = origin.nanoseconds - armed.start.nanoseconds
        guard let isRunning = foreignTimers.started(late: delay, at: machine.monotonicTime()) else { return }
        setPacemaker(isRunning)
    }

    mutating func setPacemaker(_ isRunning: Bool) {
        guard isRunning != isPacemakerRunning else { return }
        machine.setPacemaker(isRunning)
        isPacemakerRunning = isRunning
    }

    /// Asks the witness which messages the queue has sent.
    private mutating func settle(_ armed: Armed) {
        // Another processor may be sending a message just now. Sleep, in case it waits for this processor.
        while !machine.isQueueEmpty { machine.pause(nanoseconds: 20_000) }
        reading = machine.reading(after: reading)
        var origin: MonotonicTime?
        var isLate = false
        var (sent, refused): (UInt64, UInt64) = (0, 0)
        while true {
            guard let count = machine.takeHeard(heard.start) else {
                isLate = noteOverdue(armed) || isLate
                sent = 0
                break
            }
            guard count > 0 else { break }
            // Read only now, because if nothing was heard, the thread must send without delay.
            let start = origin ?? machine.queueOrigin() ?? armed.start
            origin = start
            for index in 0..<count where heard[index].isRefusal { refused |= 1 << UInt64(heard[index].port) }
            for index in 0..<count where heard[index].tag != 0 {
                sent |= 1 << UInt64(heard[index].port)
                let time = reading.hostTime(of: start.advanced(byNanoseconds: heard[index].queueTime))
                isLate = noteArmed(heard[index], leftAt: time) || isLate
            }
        }
        for slot in 0..<outputs where (sent | refused) >> UInt64(slot) & 1 == 1 {
            isLate = receipt(slot, refused >> UInt64(slot) & 1 == 1) || isLate
        }
        agenda.removeDeparted()
        if isLate { agenda.clear() }
    }

    /// Notes the first queued message that matches the one heard and has not left yet.
    private mutating func noteArmed(_ heard: SequencerSender.Heard, leftAt time: HostTime) -> Bool {
        for index in 0..<agenda.count
        where agenda.entries[index].isArmed && !agenda.entries[index].hasLeft
            && agenda.entries[index].port == heard.port && agenda.entries[index].tag == heard.tag
        {
            return note(index, leftAt: time)
        }
        return false
    }

    /// Notes overdue messages in the queue as sent, when the witness has lost some of what it heard.
    ///
    /// If that is wrong a tick is missing, which is better than sending it twice.
    private mutating func noteOverdue(_ armed: Armed) -> Bool {
        let now = machine.monotonicTime()
        var isLate = false
        for index in 0..<agenda.count where agenda.entries[index].isArmed && !agenda.entries[index].hasLeft {
            let time = armed.start.advanced(byNanoseconds: agenda.entries[index].queueTime + QueueGrid.period / 2)
            if time <= now { isLate = note(index, leftAt: reading.hostTime(of: time)) || isLate }
        }
        return isLate
    }
}
