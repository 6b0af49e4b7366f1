internal import BeatTime

// What becomes of a device that does not take what it is sent.
//
// A device that does not take what it needs hears the clock alone, or a Stop again and again where it hears no clock:
// what it takes shows that it takes messages again. It then joins like one that has returned. Where several devices
// hear one output, all goes on for the others, and what has been sent counts as sent.
extension TickPlanner {
    /// Whether a device is where the song is, as far as it has taken what it was sent.
    public enum Step: UInt8, Sendable, BitwiseCopyable {
        case inStep
        /// It has not taken what it needed: it is to be stopped or placed anew.
        case outOfStep
        /// The same of one or more of the several devices at this output. Nobody knows which.
        case someOutOfStep
    }

    /// What is known of the device's taking what it is sent.
    struct Receipts: BitwiseCopyable {
        var step = Step.inStep
        /// Whether what was last heard of the device is that it refused a message.
        var isRefusing = false
        /// Whether anything but a clock tick has been sent since.
        var hasSentTransport = false
        /// Whether a Stop has been sent since.
        var hasSentStop = false
        /// When the last Stop was sent.
        var lastStop = HostTime(microseconds: .min / 2)
        /// Whether several devices hear the output, by the last plan.
        var isShared = false
        /// Whether a device that plays and misses a tick is to be brought back to its place, by the last plan.
        var isPlaceLost = false

        mutating func sent(_ planned: PlannedMessage, at time: HostTime) {
            if planned.message != .timingClock || planned.entry != nil { hasSentTransport = true }
            guard planned.message == .stop else { return }
            hasSentStop = true
            lastStop = time
        }

        /// Closes what has been sent so far.
        mutating func close(isRefusing: Bool) {
            self.isRefusing = isRefusing
            (hasSentTransport, hasSentStop) = (false, false)
        }
    }

    /// Whether the device is where the song is, as far as it has taken what it was sent.
    public var step: Step { receipts.step }

    /// Notes that the device has taken everything sent since the last receipt.
    ///
    /// - Returns: whether what follows is to be planned anew, since it is now to be brought in step.
    @discardableResult
    public mutating func taken() -> Bool {
        let wasRefusing = receipts.isRefusing
        if receipts.hasSentStop { receipts.step = .inStep }
        receipts.close(isRefusing: false)
        return wasRefusing && step != .inStep
    }

    /// Notes that the device has refused something that was sent since the last receipt, or that its line took only
    /// a part of it.
    ///
    /// One that stands still and misses only ticks has missed nothing that it needs.
    ///
    /// - Returns: whether what follows is to be planned anew, since it is out of step now.
    @discardableResult
    public mutating func refused() -> Bool {
        let (before, isPlaying) = (step, device != .stopped)
        if receipts.hasSentTransport || isPlaying && receipts.isPlaceLost {
            receipts.step = receipts.isShared || step == .someOutOfStep ? .someOutOfStep : .outOfStep
        }
        receipts.close(isRefusing: true)
        return step != before
    }

    /// Has a device that is out of step join as one that has returned, once it takes messages again.
    ///
    /// Of several devices at one output only a Stop for all of them would reach it, so it waits for the song to stop.
    mutating func bringInStep(_ plan: OutputPlan) {
        receipts.isShared = plan.isShared
        receipts.isPlaceLost = plan.settings.isBroughtBack
        guard !receipts.hasSentStop, device != .returned,
            step == .outOfStep || step == .someOutOfStep && !receipts.isRefusing && !plan.transport.isPlaying
        else { return }
        device = .returned
        entry = nil
        joinsAtBar = true
    }

    /// What shows whether a device that is out of step takes messages again; nil if that is not in question.
    func probe(_ plan: OutputPlan, _ aim: Aim, at now: HostTime) -> PlannedMessage? {
        guard step == .outOfStep, receipts.isRefusing else { return nil }
        let hasClock = plan.settings.isClockAlwaysOn || plan.transport.isPlaying
        return hasClock ? pulse(aim) : repeatedStop(aim, at: now)
    }

    /// A Stop for a device that may have refused one: without a clock nothing else shows whether it takes messages again.
    func repeatedStop(_ aim: Aim, at now: HostTime) -> PlannedMessage? {
        guard sendsStop, step != .inStep, receipts.isRefusing else { return nil }
        let due = max(now, receipts.lastStop.advanced(byMicroseconds: Self.stopInterval))
        return PlannedMessage(
            message: .stop, due: due, belated: 0, place: aim.place, pulse: nextPulse, fold: train.fold, entry: nil)
    }

    /// Microseconds from one such Stop to the next.
    private static var stopInterval: Int64 { 250_000 }
}
