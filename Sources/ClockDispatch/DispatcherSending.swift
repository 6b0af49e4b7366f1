internal import BeatTime
internal import MIDIClock
internal import RealTime
internal import Synchronization

/// What the thread sends itself, and what devices have taken.
extension Dispatcher where Machine: ~Copyable {
    /// When the thread must send something itself; the end of time if nothing is planned.
    func ownDue() -> MonotonicTime {
        var first = MonotonicTime(nanoseconds: .max)
        for slot in 0..<shared.outputs where states[slot].next != nil { first = min(first, states[slot].ownDue) }
        return first
    }

    /// Waits, without sleeping, until a time, and sends what is due then.
    mutating func sendDue(at due: MonotonicTime) {
        let now = wait(until: due)
        // After a stall, the plan from before it is outdated.
        if now > due.advanced(byNanoseconds: Self.late), reading.monotonic < due {
            reading = machine.reading(after: reading)
            return plan()
        }
        var count = 0
        for slot in 0..<shared.outputs where count < batch.count {
            guard let next = states[slot].next, states[slot].ownDue <= now else { continue }
            batch[count] = ScheduledMessage(
                slot: slot, sink: states[slot].slot.sink, message: next.message, planned: next)
            count += 1
        }
        sendBatch(count, at: now)
        for index in 0..<count { plan(batch[index].slot) }
    }

    /// Sends messages at once.
    mutating func sendBatch(_ count: Int, at now: MonotonicTime) {
        machine.send(UnsafeMutableBufferPointer(start: batch.start, count: count))
        let time = reading.hostTime(of: now)
        for index in 0..<count {
            let slot = batch[index].slot
            var isBegun = false
            if case .line(let line) = batch[index].sink { isBegun = write(index, to: line) }
            if let planned = batch[index].planned { sent(slot, planned, at: time) }
            guard batch[index].sink.hasReceiver else { continue }
            if batch[index].wasRefused {
                refused(slot, isBegun: isBegun)
            } else if states[slot].receipt == nil {
                taken(slot)
            }
        }
    }

    /// Writes a message to its line, after what is left of the previous one.
    ///
    /// - Returns: whether the line has taken any of it, so that the rest follows.
    private mutating func write(_ index: Int, to line: Int32) -> Bool {
        let (slot, message) = (batch[index].slot, batch[index].message)
        var bytes = states[slot].unwritten
        let older = bytes.count
        bytes.append(message)
        let taken = machine.write(bytes, to: line)
        batch[index].wasRefused = taken != bytes.count
        if taken == nil { counters[slot].isLineBroken.store(true, ordering: .relaxed) }
        states[slot].unwritten = bytes.rest(afterTaking: taken ?? 0, of: message)
        return taken ?? 0 > older
    }

    /// Notes that a message leaves at a time.
    mutating func sent(_ slot: Int, _ planned: StreamEvent, at time: HostTime) {
        states[slot].stream.sent(planned, at: time)
        guard planned.message.isPulse else { return }
        counters[slot].countTick(lateness: planned.due.microseconds(to: time) + planned.belated, at: time)
    }

    /// Notes that a device has not taken something, or not yet all of it.
    mutating func refused(_ slot: Int, isBegun: Bool = false) {
        countDropped(slot)
        states[slot].receipt = nil
        states[slot].stream.refused(isBegun: isBegun)
        states[slot].isOutdated = true
    }

    private func countDropped(_ slot: Int) { counters[slot].dropped.add(1, ordering: .relaxed) }

    /// Notes that a device has taken everything it was sent so far.
    private func taken(_ slot: Int) {
        states[slot].stream.taken()
        states[slot].isOutdated = true
    }

    /// Learns what devices have taken of what the queue has sent by now.
    mutating func takeReceipts(at now: MonotonicTime) {
        guard machine.hasQueue else { return }
        let refusals = machine.takeRefusals()
        for slot in 0..<shared.outputs {
            if refusals >> UInt64(slot) & 1 == 1 {
                // Before it is started, or placed anew, a device misses nothing important.
                if states[slot].moves > now { countDropped(slot) } else { refused(slot) }
            }
            guard let time = states[slot].receipt, !isQueued(time, at: now) else { continue }
            states[slot].receipt = nil
            taken(slot)
        }
    }
}
