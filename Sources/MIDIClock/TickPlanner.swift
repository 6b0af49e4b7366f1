public import BeatTime

/// Decides, for one output, which message leaves next and when.
///
/// The owner asks for the ``step(_:at:)`` to take, sends or sleeps as told, and asks again with the time it is then.
/// Every tick's time is computed from the plan's line, never from the tick before. What the planner remembers is
/// what the device has been sent, so a new plan needs no announcement: the difference shows by itself.
///
/// Owned by the output thread: a plain value of fixed size that allocates nothing.
public struct TickPlanner: Sendable, BitwiseCopyable {
    /// What to do now.
    @frozen
    public enum Step: Hashable, Sendable, BitwiseCopyable {
        /// Send a message at once; it was due at the time given.
        case send(ClockMessage, due: HostTime)
        /// Nothing is due before that time.
        case wait(until: HostTime)
    }

    /// The next tick to send; nil before the first plan.
    private var nextTick: Int64?
    /// Before this time no tick may leave, whatever the line says.
    private var gapEnd = HostTime(microseconds: .min)
    private var device = Device.stopped
    private var entry: Entry?
    /// Whether the device was connected anew and has to find a bar to join at.
    private var joinsAtBar = false

    /// What the device is doing, as far as it obeys.
    private enum Device: BitwiseCopyable {
        case stopped
        /// Its song position is counted from the tick given.
        case playing(startTick: Int64)
    }

    public init() {}

    private var hasStartedDevice: Bool {
        if case .playing = device { true } else { false }
    }

    /// A device has come: a song that plays is joined at the next bar.
    ///
    /// - Parameter isReturning: whether one was here before. It may have played on behind a pulled cable, so it is
    ///   stopped first.
    public mutating func deviceConnected(isReturning: Bool) {
        device = isReturning ? .playing(startTick: .min) : .stopped
        entry = nil
        joinsAtBar = true
    }

    /// The last message for a device that plays, for when the program ends.
    public mutating func finish() -> ClockMessage? {
        defer { device = .stopped }
        return hasStartedDevice ? .stop : nil
    }

    /// What to do at a time under a plan.
    ///
    /// - Parameters:
    ///   - plan: the newest plan; it may differ from the last one in any way.
    ///   - now: the present host time, never earlier than at the step before.
    /// - Returns: one message to send now, or how long there is nothing to do.
    public mutating func step(_ plan: OutputPlan, at now: HostTime) -> Step {
        let tick = followLine(plan.line, at: now)
        if let stop = stopIfMisplaced(plan.transport, tick: tick) { return .send(stop, due: now) }
        nextTick = tick.number
        if tick.isBroken { entry = nil }
        guard plan.transport.isPlaying else {
            entry = nil
            joinsAtBar = false
            return sendTick(tick.number, on: plan.line, at: now)
        }
        guard !hasStartedDevice else { return sendTick(tick.number, on: plan.line, at: now) }
        return enter(plan, tick: tick.number, at: now)
    }

    /// The tick to send next on a line, and whether the train of ticks was broken to get there.
    private func followLine(_ line: TickLine, at now: HostTime) -> (number: Int64, isBroken: Bool) {
        guard let nextTick else { return (line.firstTick(atOrAfter: now), false) }
        let lateness = line.time(ofTick: nextTick).microseconds(to: now)
        // Late: after a stall, or a grid that jumped ahead. Far too early: a grid that jumped back.
        if lateness > line.catchUpLimit || lateness < -7 * line.tickLength {
            return (line.firstTick(atOrAfter: max(now, gapEnd)), true)
        }
        return (nextTick, false)
    }

    private mutating func sendTick(_ tick: Int64, on line: TickLine, at now: HostTime) -> Step {
        let due = line.time(ofTick: tick)
        let earliest = max(due, gapEnd)
        guard now >= earliest else { return .wait(until: earliest) }
        gapEnd = now.advanced(byMicroseconds: line.minimumGap)
        nextTick = tick + 1
        return .send(.timingClock, due: due)
    }

    /// Stops a device that plays but should not, or that would go on at the wrong place of the song.
    private mutating func stopIfMisplaced(
        _ transport: PlannedTransport, tick: (number: Int64, isBroken: Bool)
    ) -> ClockMessage? {
        guard case .playing(let startTick) = device else { return nil }
        if transport.isPlaying, transport.startTick == startTick, !tick.isBroken { return nil }
        device = .stopped
        entry = nil
        return .stop
    }

    /// Brings a stopped device into a song that plays: its messages among the ticks, each in its turn.
    private mutating func enter(_ plan: OutputPlan, tick: Int64, at now: HostTime) -> Step {
        var entry = validEntry(plan, tick: tick, at: now)
        defer { self.entry = entry }
        // Start and Continue come right before their own tick; Song Position Pointer may come among earlier ones.
        guard tick == entry.tick || !entry.isLocated else { return sendTick(tick, on: plan.line, at: now) }
        let due = entry.nextMessageTime(plan)
        guard now >= due else { return earlier(sendTick(tick, on: plan.line, at: now), due) }
        let message = entry.nextMessage(plan)
        if entry.isLocated {
            device = .playing(startTick: plan.transport.startTick)
            joinsAtBar = false
        }
        entry.isLocated = true
        return .send(message, due: due)
    }

    private func earlier(_ step: Step, _ time: HostTime) -> Step {
        if case .wait(let other) = step { return .wait(until: min(other, time)) }
        return step
    }

    /// The entry in progress if it can still be met, else a new one.
    private func validEntry(_ plan: OutputPlan, tick: Int64, at now: HostTime) -> Entry {
        if let entry, entry.startTick == plan.transport.startTick, entry.isInTime(plan, tick: tick, at: now) {
            return entry
        }
        return Entry.first(plan, from: tick, at: now, atBar: joinsAtBar)
    }
}
