internal import BeatTime

// How to treat a device that does not accept what it is sent.
//
// If it missed something important, it gets only the clock, or repeated Stops if it gets no clock. When it accepts one
// of them it accepts messages again, and joins like a device that returns. If several devices receive from one output,
// the others continue, and everything sent counts as sent.
extension TickPlanner {
    /// Whether a device is in sync with the song, judging by what it has accepted.
    ///
    /// ```swift
    /// var planner = TickPlanner()
    /// planner.refused()  // A stopped device that misses ticks has lost nothing.
    /// assert(planner.syncState == .inSync)
    /// ```
    public enum SyncState: UInt8, Sendable, BitwiseCopyable {
        case inSync
        /// It missed something important: it must be stopped or placed again.
        case outOfSync
        /// One or more of the several devices at this output are out of sync; it is not known which.
        case someOutOfSync
    }

    /// What is known about the device accepting messages.
    struct Receipts: BitwiseCopyable {
        var syncState = SyncState.inSync
        /// Whether the last receipt was a refusal.
        var isRefusing = false
        /// Whether anything but ticks was sent since the last receipt.
        var hasSentTransport = false
        /// Whether a Stop was sent since the last receipt.
        var hasSentStop = false
        /// When the last Stop was sent.
        var lastStop = HostTime(microseconds: .min / 2)
        /// Whether several devices receive from the output, according to the last plan.
        var isShared = false
        /// Whether a playing device that misses a tick must be realigned, according to the last plan.
        var isPlaceLost = false

        mutating func sent(_ planned: PlannedMessage, at time: HostTime) {
            if planned.message != .timingClock || planned.startPlan != nil { hasSentTransport = true }
            guard planned.message == .stop else { return }
            hasSentStop = true
            lastStop = time
        }

        /// Ends the period of the last receipt.
        mutating func close(isRefusing: Bool) {
            self.isRefusing = isRefusing
            (hasSentTransport, hasSentStop) = (false, false)
        }
    }

    /// Whether the device is in sync, judging by what it has accepted.
    public var syncState: SyncState { receipts.syncState }

    /// Notes that the device has accepted everything sent since the last receipt.
    ///
    /// - Returns: whether the next messages must be planned again, to bring it in sync.
    @discardableResult
    public mutating func taken() -> Bool {
        let wasRefusing = receipts.isRefusing
        if receipts.hasSentStop { receipts.syncState = .inSync }
        receipts.close(isRefusing: false)
        return wasRefusing && syncState != .inSync
    }

    /// Notes that the device has refused something since the last receipt, or its line took only a part.
    ///
    /// A stopped device that misses only ticks has missed nothing important.
    ///
    /// - Returns: whether the next messages must be planned again, because it is now out of sync.
    @discardableResult
    public mutating func refused() -> Bool {
        let (before, isPlaying) = (syncState, device != .stopped)
        if receipts.hasSentTransport || isPlaying && receipts.isPlaceLost {
            receipts.syncState = receipts.isShared || syncState == .someOutOfSync ? .someOutOfSync : .outOfSync
        }
        receipts.close(isRefusing: true)
        return syncState != before
    }

    /// Lets a device that is out of sync join like one that returns, once it accepts messages again.
    ///
    /// One of several devices at an output can only be reached by a Stop for all of them, so it waits until the song
    /// stops.
    mutating func bringInSync(_ plan: OutputPlan) {
        receipts.isShared = plan.isShared
        receipts.isPlaceLost = plan.settings.isBroughtBack
        guard !receipts.hasSentStop, device != .returned,
            syncState == .outOfSync || syncState == .someOutOfSync && !receipts.isRefusing && !plan.transport.isPlaying
        else { return }
        device = .returned
        startPlan = nil
        joinsAtBar = true
    }

    /// The message that tests whether an out-of-sync device accepts messages again; nil if no test is needed.
    func trial(_ plan: OutputPlan, _ aim: Aim, at now: HostTime) -> PlannedMessage? {
        guard syncState == .outOfSync, receipts.isRefusing else { return nil }
        let hasClock = plan.settings.isClockAlwaysOn || plan.transport.isPlaying
        return hasClock ? pulse(aim) : repeatedStop(aim, at: now)
    }

    /// A repeated Stop for a device that may have refused one; without a clock nothing else can test it.
    func repeatedStop(_ aim: Aim, at now: HostTime) -> PlannedMessage? {
        guard sendsStop, syncState != .inSync, receipts.isRefusing else { return nil }
        let due = max(now, receipts.lastStop.advanced(byMicroseconds: Self.stopInterval))
        return PlannedMessage(
            message: .stop, due: due, belated: 0, place: aim.place, pulse: nextPulse, startPlan: nil)
    }

    /// Microseconds between two repeated Stops.
    private static var stopInterval: Int64 { 250_000 }
}
