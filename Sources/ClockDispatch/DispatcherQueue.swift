internal import ALSASequencer
internal import BeatTime
internal import RealTime

/// Putting messages into the queue, taking them back, and finding out which have left it.
extension Dispatcher where Machine: ~Copyable {
    /// How long before the first message is due the queue is started at the earliest, in nanoseconds; beside another one
    /// ``Company/wait`` earlier.
    ///
    /// An ordinary thread may be held up for long at any time, so it does so as early as it may.
    var lead: Int64 { way.mode == .queue && !way.isAdaptive ? WakeUpPolicy.leads.upperBound : policy.lead }

    /// How long after a message is due it has usually left the queue, in nanoseconds.
    private static var sendingTime: Int64 { 3 * QueueGrid.period }

    /// How long the queue runs at most until another start shows whether another program's queue still runs, in
    /// nanoseconds.
    private static var longestRun: Int64 { 10_000_000_000 }

    /// Puts the messages that are due soon into the queue when it is time.
    ///
    /// - Parameter wakeUp: when to wake if the thread is to send the first message of all.
    /// - Returns: when to continue; nil if the thread is to send the first message.
    mutating func queueUp(wakeUp: MonotonicTime) -> MonotonicTime? {
        guard usesQueue, let first = agenda.firstForPort else { return nil }
        let aim = due(of: first)
        let isOwn = first > 0 || isOwn(0)
        for _ in 0..<3 {
            let now = machine.monotonicTime()
            guard !agenda.isEmpty, !isOwn || now < wakeUp, now < aim else { return nil }
            let (end, ahead) = (aim.advanced(byNanoseconds: -company.shift), lead + company.wait)
            if company.isPresent, let running = queue, !running.wasPrompt,
                now < running.returned.advanced(byNanoseconds: Self.longestRun),
                running.isSlow || !policy.hasTime || end < now.advanced(byNanoseconds: ahead)
            {
                // When it has started can be measured only some time later.
                let known = running.returned.advanced(byNanoseconds: Company.longestWait)
                let hasStarted = now >= known && (running.origin != nil || machine.isQueueEmpty)
                if now >= known, !hasStarted { queue?.isSlow = true }
                guard hasStarted, measureStart(at: now), let grid = queue?.grid else {
                    let next = min(now < known ? known : now.advanced(byNanoseconds: Company.longestWait), wakeUp)
                    return now < next ? next : nil
                }
                guard company.isPresent else { continue }
                arm(first) { grid.stamp(notBefore: grid.end(nearest: $0)) }
                break
            }
            // A start that cannot be measured in time is of use for later messages only.
            guard let grid = QueueGrid(aimingAt: end, from: now, lead: ahead),
                grid.start.advanced(byNanoseconds: company.wait) < end || !agenda.isOneMoment
            else { return nil }
            let early = grid.start.advanced(byNanoseconds: -policy.toStart.nanoseconds)
            // No sleep of less than a period: after a late wake-up the thread takes the next period instead of sleeping
            // again.
            if now.advanced(byNanoseconds: QueueGrid.period) < early {
                return pause(until: isOwn ? min(early, wakeUp) : early)
            }
            // What goes to a line before that does not wait for the queue's start.
            if first > 0, grid.start >= wakeUp { return nil }
            if let deadline = wokenFor.take() { policy.toStart.learn(now.nanoseconds - deadline.nanoseconds) }
            guard let isPrompt = startQueue(at: grid.start) else { return nil }
            if company.isPresent { continue }
            arm(first) { grid.stamp(notBefore: $0) }
            if isPrompt { break }
            // The thread was held up, so the queue's periods end late by as much: try once more.
            disarm()
        }
        guard let armed else { return nil }
        if !isOwn { finishedGroup() }
        return min(armed.groupEnd, nextOwnWakeUp ?? armed.groupEnd)
    }

    /// Whether the thread sends a message itself.
    ///
    /// Beside another program's queue it does, unless it has just sent something: waking for all would take too long.
    private func isOwn(_ index: Int) -> Bool {
        guard agenda.entries[index].port != nil, usesQueue else { return true }
        return mode == .backstop
            && due(of: index).nanoseconds - lastSent.nanoseconds >= policy.groupSpan * 1_000
    }

    /// When to wake for the next message that the thread sends, by choice or for want of room in the queue.
    ///
    /// Nil if there is none.
    var nextOwnWakeUp: MonotonicTime? {
        (0..<agenda.count).first { !agenda.entries[$0].isArmed || isOwn($0) }.map { ownWakeUp(for: $0) }
    }

    /// Whether the queue could not be started anew in time for what follows the message that the thread is about to send,
    /// or for the next one if the queue has sent that.
    ///
    /// Otherwise it had better be stopped: while it runs, its timer interrupts whatever the thread does. After a prompt
    /// start it is started anew in any case.
    var needsQueueSoon: Bool {
        guard company.isPresent, !agenda.isEmpty, queue?.wasPrompt == false else { return false }
        let now = machine.monotonicTime()
        if now >= ownWakeUp(for: 0) { return !agenda.isOneMoment }
        return due(of: 0) < now.advanced(byNanoseconds: lead + company.wait)
    }

    /// Starts the queue at a given time or slightly later.
    ///
    /// - Returns: whether that took less than a period; nil if the kernel refused.
    private mutating func startQueue(at time: MonotonicTime) -> Bool? {
        var before = machine.monotonicTime()
        while before < time { before = machine.monotonicTime() }
        queue = nil
        guard machine.startQueue() else { return nil }
        let returned = machine.monotonicTime()
        queue = RunningQueue(start: before, returned: returned)
        return returned < time.advanced(byNanoseconds: QueueGrid.period)
    }

    /// Puts the whole agenda into the running queue.
    ///
    /// - Parameters:
    ///   - first: the index of the first message that leaves from a sequencer port.
    ///   - stamp: the queue time for a message that is due at a given time.
    private mutating func arm(_ first: Int, stamp: (MonotonicTime) -> Int64) {
        guard let queue else { return }
        for index in 0..<agenda.count {
            if index == 0 || agenda.entries[index].due != agenda.entries[index - 1].due {
                tag = tag == .max ? 1 : tag + 1
            }
            agenda.entries[index].tag = tag
            agenda.entries[index].queueTime = stamp(due(of: index))
        }
        machine.arm(UnsafeMutableBufferPointer(start: agenda.entries.start, count: agenda.count))
        let earliest = queue.start.advanced(byNanoseconds: agenda.entries[first].queueTime)
        let last = due(of: agenda.lastOfGroup(from: first, span: policy.groupSpan))
        armed = (earliest, last.advanced(byNanoseconds: Self.sendingTime))
    }

    /// When there is next enough time between two messages to take back what is in the queue and to put it in again.
    ///
    /// A thread that was held up may have too little before the next message. Nil if there is time now, or none before
    /// the queue has sent all.
    var nextGap: MonotonicTime? {
        let now = reading.monotonic
        var free = now
        for index in 0..<agenda.count where free < due(of: index).advanced(byNanoseconds: QueueGrid.period) {
            let latest = due(of: index).advanced(byNanoseconds: -policy.toHandle.nanoseconds)
            if free <= latest { return now < free ? free : nil }
            free = due(of: index).advanced(byNanoseconds: Self.sendingTime)
        }
        return nil
    }

    /// Waits, without sleeping, until a message that is almost due must be taken back.
    ///
    /// Until then the queue sends it if the thread is held up again.
    ///
    /// - Parameter wakeUp: when to wake for it.
    mutating func waitToTakeBack(from wakeUp: MonotonicTime) {
        guard reading.monotonic >= wakeUp else { return }
        let end = wakeUp.advanced(byNanoseconds: policy.marginToSend - policy.toTakeBack.nanoseconds)
        var now = reading.monotonic
        while now < end { now = machine.monotonicTime() }
        takingBackSince = now
        wokenFor = wokenFor?.advanced(byNanoseconds: now.nanoseconds - reading.monotonic.nanoseconds)
    }

    /// Takes back everything from the queue, and finds out what has left it.
    mutating func disarm() {
        guard let armed else { return }
        self.armed = nil
        machine.removeQueued()
        let now = machine.monotonicTime()
        let count = agenda.count
        if now >= armed.earliest { settle() }
        let hasSent = agenda.count < count
        for index in 0..<agenda.count { agenda.entries[index].isArmed = false }
        // What has left is, as a rule, what the thread was to send, and came too late for.
        if hasSent, mode == .backstop, let wokenFor, wokenFor < armed.groupEnd { noteCouldSend(at: now) }
        if now >= armed.groupEnd, !hasSent {
            company.started(isLate: true)
            // It may not have started yet, and what would have shown that it has is no longer in it.
            stopQueue()
        } else if !company.isPresent {
            measureStart(at: now)
        }
    }

    /// Measures when the queue has started, and so whether another program's queue runs.
    ///
    /// - Returns: false if it may not have started yet.
    @discardableResult
    private mutating func measureStart(at now: MonotonicTime) -> Bool {
        // Until its first period the queue tells a time that is too early.
        guard let running = queue, now >= running.returned.advanced(byNanoseconds: Company.longestWait) else {
            return false
        }
        guard let limits = machine.queueOrigin() else { return false }
        queue?.measured(within: limits)
        guard running.origin == nil else { return true }
        // Where asking takes long, it may be neither certainly late nor certainly prompt.
        let latest = running.returned.advanced(byNanoseconds: Company.tolerance)
        let isLate = limits.lowerBound > latest
        if isLate || limits.upperBound <= latest {
            queue?.wasPrompt = !isLate
            company.started(isLate: isLate)
        }
        return true
    }

    /// Asks the witness which messages the queue has sent.
    private mutating func settle() {
        // Another processor may be sending a message just now. Sleep, in case it waits for this processor.
        while !machine.isQueueEmpty { machine.pause(nanoseconds: 20_000) }
        reading = machine.reading(after: reading)
        let start = queue?.grid.start ?? reading.monotonic
        var isLate = false
        var (sent, refused): (UInt64, UInt64) = (0, 0)
        while true {
            guard let count = machine.takeHeard(heard.start) else {
                isLate = noteOverdue() || isLate
                sent = 0
                break
            }
            guard count > 0 else { break }
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
        let index = (0..<agenda.count).first {
            let entry = agenda.entries[$0]
            return entry.isWaiting && entry.port == heard.port && entry.tag == heard.tag
        }
        return index.map { note($0, leftAt: time) } ?? false
    }

    /// Notes overdue messages in the queue as sent, when the witness has lost some of what it heard.
    ///
    /// If that is wrong a tick is missing, which is better than sending it twice.
    private mutating func noteOverdue() -> Bool {
        guard let queue else { return false }
        let now = machine.monotonicTime()
        var isLate = false
        for index in 0..<agenda.count where agenda.entries[index].isWaiting {
            let time = queue.grid.start.advanced(byNanoseconds: agenda.entries[index].queueTime + QueueGrid.period / 2)
            if time <= now { isLate = note(index, leftAt: reading.hostTime(of: time)) || isLate }
        }
        return isLate
    }
}
