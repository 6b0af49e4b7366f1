public import BeatTime

/// Decides, for one output, which message leaves next and when.
///
/// The owner asks what is ``next(_:on:at:)``, sends it when it is due, and reports it ``sent(_:at:)``. Every pulse's
/// time is computed from the tempo map, never from the pulse before. What the planner remembers is what the device
/// has been sent, so a new plan needs no announcement: the difference shows by itself.
///
/// Whoever wants to know what follows asks a copy, and tells it that things are sent when they are due.
///
/// Owned by the output thread: a plain value of fixed size that allocates nothing.
public struct TickPlanner: Sendable, BitwiseCopyable {
    /// Of no account before the first plan.
    private(set) var train = PulseTrain()
    private var hasTrain = false
    /// The next pulse to send, counted as the train counts them.
    var nextPulse: Int64 = 0
    /// When the last pulse left, from which the next must keep its distance.
    private var lastPulse = HostTime(microseconds: .min / 2)
    /// Where the last pulse fell, unless the grid has jumped since, and when it was to leave.
    private var lastPlace: TickPlace?
    private var lastDue = HostTime(microseconds: .min / 2)
    /// Whether the next pulse comes too soon or late since the plan has changed, and not since it was held up.
    private var isBehindPlan = false
    var device = Device.stopped
    /// Whether the device plays at the wrong place of the song.
    private var isMisplaced = false
    var entry: Entry?
    /// Whether the device was connected anew and has to find a bar to join at.
    var joinsAtBar = false
    /// When the device, though playing, is to be placed anew, if it is.
    var realignment: Realignment?
    /// Whether the device may be sent Stop, by the last plan.
    private(set) var sendsStop = true
    /// What is known of the device's taking what it is sent.
    var receipts = Receipts()

    /// What the device is doing, as far as it obeys.
    enum Device: Hashable, BitwiseCopyable {
        case stopped
        /// Its song position is counted from the tick given.
        case playing(startTick: Int64)
        /// It was away, and may have played on.
        case returned
    }

    public init() {}

    /// A device has come: a song that plays is joined at the next bar.
    ///
    /// - Parameter isReturning: whether one was here before. It may have played on behind a pulled cable, so it is
    ///   stopped first.
    public mutating func deviceConnected(isReturning: Bool) {
        device = isReturning ? .returned : .stopped
        entry = nil
        joinsAtBar = true
        receipts = Receipts()
    }

    /// Places the device anew, if it plays and its place can be told.
    public mutating func realign(_ realignment: Realignment) {
        if device != .stopped { self.realignment = realignment }
    }

    /// Whether the device has been started, and has not taken a Stop since.
    public var mayPlay: Bool { device != .stopped || step != .inStep }

    /// The last message for a device that plays, for when the program ends; whether it was taken may still be noted.
    public mutating func finish() -> ClockMessage? {
        defer { device = .stopped }
        guard mayPlay, sendsStop else { return nil }
        (receipts.hasSentTransport, receipts.hasSentStop) = (true, true)
        return .stop
    }

    /// What leaves next, and when.
    ///
    /// - Parameters:
    ///   - plan: the newest plan; it may differ from the last one in any way.
    ///   - map: the newest tempo map.
    ///   - now: the present host time, never earlier than at the call before.
    /// - Returns: a message, which may be due already; nil if there is nothing to send until the plan changes.
    public mutating func next(
        _ plan: OutputPlan, on map: TempoMap, at now: HostTime
    ) -> PlannedMessage? {
        sendsStop = plan.settings.sendsStop
        bringInStep(plan)
        let aim = follow(plan, on: map, at: now)
        if let probe = probe(plan, aim, at: now) { return probe }
        if device != .stopped {
            if playsOn(plan) { return goOn(plan, aim, on: map, at: now) }
            guard !sendsStop else {
                return PlannedMessage(
                    message: .stop, due: now, belated: 0, place: aim.place, pulse: nextPulse, fold: train.fold,
                    entry: nil)
            }
            device = .stopped
            receipts.step = .inStep
        }
        isMisplaced = false
        realignment = nil
        guard plan.transport.isPlaying else {
            entry = nil
            joinsAtBar = false
            return plan.settings.isClockAlwaysOn ? pulse(aim) : repeatedStop(aim, at: now)
        }
        return enter(plan, on: map, at: now)
    }

    /// Whether ``next(_:on:at:)`` would say again what it said of a copy that went ahead, plan and map being the same.
    ///
    /// - Parameters:
    ///   - ahead: what it said, when the copy had been told that the messages before had left.
    ///   - map: the tempo map.
    ///   - now: the present host time.
    /// - Returns: whether it need not be asked again.
    public func stillExpects(_ ahead: PlannedMessage, on map: TempoMap, at now: HostTime) -> Bool {
        guard hasTrain, ahead.message == .timingClock, ahead.pulse == nextPulse, ahead.fold == train.fold,
            ahead.belated == 0, entry == nil, !isMisplaced, realignment == nil, step == .inStep
        else { return false }
        return now <= ahead.due && gapEnd(map) <= ahead.due
    }

    /// Notes that a message has left.
    ///
    /// - Parameters:
    ///   - planned: what ``next(_:on:at:)`` of this planner, or of a copy that went ahead, gave.
    ///   - time: when it left.
    public mutating func sent(_ planned: PlannedMessage, at time: HostTime) {
        receipts.sent(planned, at: time)
        switch planned.message {
        case .timingClock:
            nextPulse = planned.pulse + 1
            (lastPulse, lastPlace, lastDue) = (time, planned.place, planned.due)
            guard let entry = planned.entry else { return }
            moves(by: entry)
        case .stop: device = .stopped
        case .songPosition: break
        case .start, .continue: if let entry = planned.entry { moves(by: entry) }
        }
        isMisplaced = false
        realignment = nil
        entry = planned.entry?.afterMessage
    }

    private mutating func moves(by entry: Entry) {
        device = .playing(startTick: entry.startTick)
        joinsAtBar = false
    }

    /// Where the next pulse falls, when it leaves if nothing keeps it, and what keeps it.
    struct Aim: BitwiseCopyable {
        var place: TickPlace
        var due: HostTime
        var gapEnd: HostTime
    }

    func aim(_ map: TempoMap) -> Aim {
        let place = train.grid.place(ofPulse: nextPulse)
        return Aim(place: place, due: train.due(at: place, on: map), gapEnd: gapEnd(map))
    }

    /// Brings the train of pulses up to date, and finds its next pulse again if it was broken.
    private mutating func follow(_ plan: OutputPlan, on map: TempoMap, at now: HostTime) -> Aim {
        guard hasTrain else {
            (train, hasTrain) = (PulseTrain(plan, on: map), true)
            nextPulse = train.first(atOrAfter: now, on: map)
            return aim(map)
        }
        let isClockOn = plan.settings.isClockAlwaysOn || device != .stopped
        let (count, isRunning) = (nextPulse, isClockOn || entry != nil)
        let change = train.follow(plan, on: map, next: &nextPulse, isRunning: isRunning, at: now)
        if change.isRegrouped || change.jump == .slid { entry = nil }
        if change.isRegrouped, nextPulse != count, device != .stopped, plan.settings.isBroughtBack {
            realignment = realignment ?? .atBar
        }
        // Who has slid into another song, past its top, plays that.
        if change.jump == .slid, device != .stopped, plan.transport.isPlaying, nextPulse > 0 {
            device = .playing(startTick: plan.transport.startTick)
        }
        var isBroken = change.jump == .broken
        noteDelay(change, on: map, at: now)
        // Late after a stall; that pulses keep their distance is not lateness, whenever it is asked for.
        let aim = aim(map)
        let lateness = aim.due.microseconds(to: max(now, aim.gapEnd))
        if isRunning, lateness > train.catchUpLimit(map.line) { isBroken = true }
        // Far ahead after a tempo that fell while nobody told us.
        if isClockOn, train.due(nextPulse - 7, on: map) > now { isBroken = true }
        guard isBroken else { return aim }
        isBehindPlan = true
        nextPulse = train.first(atOrAfter: max(now, gapEnd(map)), on: map)
        entry = nil
        isMisplaced = device != .stopped
        return self.aim(map)
    }

    /// Notes whether the next pulse is behind a plan that has changed, until it is on time.
    private mutating func noteDelay(_ change: PulseTrain.Change, on map: TempoMap, at now: HostTime) {
        let due = train.due(nextPulse, on: map)
        if change.jump != .none { lastPlace = nil }
        if change.isMoved || change.jump != .none {
            let gap = plannedGap(map)
            // What was overdue before counts from now: else it would be caught up in a burst.
            let base = max(lastDue, lastPulse, now.advanced(byMicroseconds: -gap))
            guard due < base.advanced(byMicroseconds: gap) else { return }
            (isBehindPlan, lastDue) = (true, base)
        } else if due >= plannedGapEnd(map) {
            isBehindPlan = false
        }
    }

    /// Before this time no pulse may leave, whatever the map says.
    func gapEnd(_ map: TempoMap) -> HostTime {
        let end = lastPulse.advanced(byMicroseconds: train.minimumGap(map.line))
        return isBehindPlan ? max(end, plannedGapEnd(map)) : end
    }

    /// Before this time no pulse may be planned while they are behind a plan that has changed.
    private func plannedGapEnd(_ map: TempoMap) -> HostTime {
        lastDue.advanced(byMicroseconds: plannedGap(map))
    }

    private func plannedGap(_ map: TempoMap) -> Int64 {
        train.plannedGap(to: train.grid.place(ofPulse: nextPulse), from: lastPlace, map.line)
    }

    /// Whether the device, which plays, may go on: where it should be, or where it is.
    private mutating func playsOn(_ plan: OutputPlan) -> Bool {
        guard plan.transport.isPlaying else { return false }
        let inPlace = Device.playing(startTick: plan.transport.startTick)
        guard device != inPlace || isMisplaced else { return true }
        // A song whose top is still to come is entered there, and one who was away enters as if new.
        let isAnew = nextPulse <= 0 || device == .returned
        let isLeft = plan.settings.start == .none || !isAnew && !plan.settings.isBroughtBack
        guard isLeft else { return false }
        if device == .returned { receipts.step = .inStep }
        (device, isMisplaced) = (inPlace, false)
        return true
    }
}
