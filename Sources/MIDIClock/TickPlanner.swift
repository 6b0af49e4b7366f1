public import BeatTime

/// Decides, for one output, which message to send next and when.
///
/// The owner asks for the ``next(_:on:at:)`` message, sends it when it is due, and reports it with ``sent(_:at:)``.
/// Every pulse's time is computed from the tempo map, never from the previous pulse. The planner remembers only what
/// the device was sent, so a new plan needs no announcement.
///
/// A message may be sent some time ahead, by a queue: it is then reported as sent at the time at which it will leave, and
/// what follows is asked for at that time.
///
/// Owned by the output thread: a plain value of fixed size that allocates nothing.
///
/// ```swift
/// let line = TickLine(microsecondsPerBeat: 500_000, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)
/// let map = TempoMap(line)
/// let song = PlannedTransport(isPlaying: true, startTick: 96, ticksPerBar: 96)
/// let plan = OutputPlan(transport: song, settings: OutputSettings())
/// let now = HostTime(microseconds: 1_900_000)
/// var planner = TickPlanner()
/// while let next = planner.next(plan, on: map, at: now), next.message == .timingClock {
///     planner.sent(next, at: next.due)
/// }
/// let start = planner.next(plan, on: map, at: now)
/// assert(start?.message == .start)
/// assert(start?.due == HostTime(microseconds: 1_999_000))
/// ```
public struct TickPlanner: Sendable, BitwiseCopyable {
    /// Meaningless before the first plan.
    private(set) var train = PulseTrain()
    private var hasTrain = false
    /// The next pulse to send, by the train's count.
    var nextPulse: Int64 = 0
    /// When the last pulse was sent; the next must keep its distance.
    private var lastPulse = HostTime(microseconds: .min / 2)
    var device = Device.stopped
    /// When a step of the grid left the next pulse just behind; nil once that pulse is sent.
    private(set) var steppedAt: HostTime?
    /// Whether the plan has had a clock in it ever since a pulse was sent.
    private var hasClock = false
    private var skipped = Skipped()
    /// Whether the device plays at the wrong place of the song.
    private var isMisplaced = false
    var startPlan: StartPlan?
    /// Whether the device was just connected, or sent nothing for a while, and must join at a bar.
    var joinsAtBar = false
    /// The requested realignment of a playing device, if any.
    var realignment: Realignment?
    /// Whether the device may be sent Stop, according to the last plan.
    private(set) var sendsStop = true
    /// Whether the device accepts what it is sent.
    var receipts = Receipts()

    /// What the device does, provided that it obeys.
    enum Device: Hashable, BitwiseCopyable {
        case stopped
        /// It counts its song position from this tick.
        case playing(startTick: Int64)
        /// It was absent, and may have played on.
        case returned
    }

    public init() {}

    /// Notes that a device was connected: it joins a playing song at the next bar.
    ///
    /// - Parameter isReturning: whether it was connected before. It may have played on while unplugged, so it is
    ///   stopped first.
    public mutating func deviceConnected(isReturning: Bool) {
        device = isReturning ? .returned : .stopped
        startPlan = nil
        joinsAtBar = true
        receipts = Receipts()
    }

    /// Notes that nothing is sent before the next call of ``next(_:on:at:)``, which then begins anew.
    ///
    /// A device that was playing has lost its place, and whoever hears the output then joins a song at a bar.
    package mutating func fallSilent() {
        (hasTrain, isMisplaced, startPlan, steppedAt) = (false, device != .stopped, nil, nil)
        joinsAtBar = true
    }

    /// Requests a realignment of the device; ignored while it is stopped.
    public mutating func realign(_ realignment: Realignment) {
        if device != .stopped { self.realignment = realignment }
    }

    /// Whether the device was started, and has not accepted a Stop since.
    public var mayPlay: Bool { device != .stopped || syncState != .inSync }

    /// The final Stop for a playing device when the program ends; whether it was accepted can still be reported.
    public mutating func finish() -> ClockMessage? {
        defer { device = .stopped }
        guard mayPlay, sendsStop else { return nil }
        (receipts.hasSentTransport, receipts.hasSentStop) = (true, true)
        return .stop
    }

    /// The next message, and when to send it.
    ///
    /// - Parameters:
    ///   - plan: the newest plan; it may differ from the last one in any way.
    ///   - map: the newest tempo map.
    ///   - now: the earliest host time at which it may be sent, never earlier than in the previous call.
    /// - Returns: a message, which may be due already; nil if there is nothing to send until the plan changes.
    public mutating func next(
        _ plan: OutputPlan, on map: TempoMap, at now: HostTime
    ) -> PlannedMessage? {
        sendsStop = plan.settings.sendsStop
        if !plan.transport.isPlaying { joinsAtBar = false }
        bringInSync(plan)
        let aim = follow(plan, on: map, at: now)
        if let trial = trial(plan, aim, at: now) { return trial }
        if device != .stopped {
            let (playsOn, rests) = (playsOn(plan), isResting(plan, aim))
            if playsOn, !rests { return goOn(plan, aim, on: map, at: now) }
            guard !sendsStop else {
                // The last pulse of the bar is still heard: Stop comes after it.
                let due = playsOn ? max(now, train.afterPulse(nextPulse - 1, on: map)) : now
                return PlannedMessage(
                    message: .stop, due: due, belated: 0, place: aim.place, pulse: nextPulse, startPlan: nil)
            }
            device = .stopped
            receipts.syncState = .inSync
        }
        isMisplaced = false
        realignment = nil
        guard plan.transport.isPlaying, plan.rest.until < .max || !isResting(plan, aim) else {
            startPlan = nil
            return plan.settings.isClockAlwaysOn ? pulse(aim) : repeatedStop(aim, at: now)
        }
        return enter(plan, on: map, at: now)
    }

    /// How many pulses are sent for how many ticks.
    ///
    /// It differs from the output's settings while its tempo is folded, or pulses would be too close.
    package struct Rate: Hashable, Sendable, BitwiseCopyable {
        /// 1 to 2^23, both.
        package let multiply, divide: Int64
    }

    /// The rate of the pulses planned last.
    package var rate: Rate { Rate(multiply: train.grid.multiply, divide: train.grid.divide) }

    /// How long after a time the next pulse comes whose number is a multiple of `stride`, in microseconds.
    ///
    /// Pulses are counted from the beginning of the song. Where some are left out, it is as long as without that. Where the
    /// next one is late, or a step has put it nearby, it is still four fifths of the shortest distance, or 10 ms.
    package func interval(from time: HostTime, toEvery stride: Int64, on map: TempoMap) -> Int64 {
        let next = -(-nextPulse).floorDivided(by: stride) * stride
        let shortest = min(stride * train.shortestGap(map.line) * 4 / 5, 10_000)
        return min(max(shortest, time.microseconds(to: train.due(next, on: map))), stride * train.gap(map.line))
    }

    /// Pulses that are left out for good, because a stall has made them too late to be made up.
    package struct Skipped: Hashable, Sendable, BitwiseCopyable {
        package var pulses: Int64 = 0
        /// By how much the first of them was late, in microseconds.
        package var lateness: Int64 = 0

        package init() {}
    }

    /// The pulses skipped since this was last called.
    package mutating func takeSkipped() -> Skipped {
        defer { skipped = Skipped() }
        return skipped
    }

    /// Notes that a message was sent.
    ///
    /// - Parameters:
    ///   - planned: what ``next(_:on:at:)`` gave last.
    ///   - time: when it was sent, or will leave.
    public mutating func sent(_ planned: PlannedMessage, at time: HostTime) {
        receipts.sent(planned, at: time)
        switch planned.message {
        case .timingClock:
            nextPulse = planned.pulse + 1
            lastPulse = time
            hasClock = true
            steppedAt = nil
            guard let startPlan = planned.startPlan else { return }
            startedDevice(by: startPlan)
        case .stop: device = .stopped
        case .songPosition: break
        case .start, .continue:
            if let startPlan = planned.startPlan { startedDevice(by: startPlan) }
        }
        isMisplaced = false
        realignment = nil
        startPlan = planned.startPlan?.afterMessage
    }

    private mutating func startedDevice(by startPlan: StartPlan) {
        device = .playing(startTick: startPlan.startTick)
        joinsAtBar = false
    }

    /// The place of the next pulse, its ideal time, and the earliest time that the previous pulse allows.
    struct Aim: BitwiseCopyable {
        var place: TickPlace
        var due: HostTime
        var gapEnd: HostTime
    }

    func aim(_ map: TempoMap) -> Aim {
        let place = train.grid.place(ofPulse: nextPulse)
        return Aim(place: place, due: train.due(at: place, on: map), gapEnd: gapEnd(map))
    }

    /// Updates the train of pulses, and finds the next pulse again after a break.
    private mutating func follow(_ plan: OutputPlan, on map: TempoMap, at now: HostTime) -> Aim {
        guard hasTrain else {
            (train, hasTrain) = (PulseTrain(plan, on: map), true)
            nextPulse = train.first(atOrAfter: max(now, gapEnd(map)), on: map)
            return aim(map)
        }
        let isClockOn = plan.settings.isClockAlwaysOn || device != .stopped
        hasClock = hasClock && (plan.settings.isClockAlwaysOn || plan.transport.isPlaying)
        let (count, isRunning) = (nextPulse, isClockOn || startPlan != nil)
        let change = train.follow(plan, on: map, next: &nextPulse, isRunning: isRunning, at: now)
        if change.isRegrouped || change.gridBreak == .slewed { startPlan = nil }
        if change.isRegrouped, nextPulse != count { losePlace() }
        // A device that has slewed past the start of another song plays that song.
        if change.gridBreak == .slewed, device != .stopped, plan.transport.isPlaying, nextPulse > 0 {
            device = .playing(startTick: plan.transport.startTick)
        }
        let aim = aim(map)
        // Keeping the distance of pulses does not count as lateness.
        let lateness = aim.due.microseconds(to: max(now, aim.gapEnd))
        // A grid that has stepped may have the next pulse just before now. It is sent at once then, not skipped. No pulse
        // is lost, so the device counts on rightly; and the delay is the step's, not ours.
        let isDue = (0...train.gap(map.line) / 2).contains(lateness)
        var isBroken = change.gridBreak == .stepped && !isDue
        if change.gridBreak == .stepped, isDue { steppedAt = now }
        // Late after a stall.
        let limit = train.catchUpLimit(map.line)
        let isTooLate = isRunning && lateness > limit
        if isTooLate { isBroken = true }
        // Far ahead, after the tempo fell without notice.
        let ahead = plan.settings.keepsLeadClear ? plan.settings.lead : 0
        if isClockOn, train.due(nextPulse - 7, on: map) > now.advanced(byMicroseconds: ahead) { isBroken = true }
        guard isBroken else { return aim }
        let first = nextPulse
        nextPulse = train.first(atOrAfter: max(now, aim.gapEnd), on: map)
        // By the former map, too: where a change has made pulses late, no stall has.
        if isTooLate, hasClock, change.gridBreak != .stepped, change.wasDue.microseconds(to: now) > limit {
            skipped.pulses += max(0, nextPulse - first)
            skipped.lateness = max(skipped.lateness, lateness)
        }
        steppedAt = nil
        startPlan = nil
        isMisplaced = device != .stopped
        return self.aim(map)
    }

    /// Has a playing device realigned, because it counts differently from now on.
    private mutating func losePlace() {
        if device != .stopped, receipts.isPlaceLost { realignment = realignment ?? .atBar }
    }

    /// Whether the device rests when the next pulse comes; one that is never sent Stop cannot.
    func isResting(_ plan: OutputPlan, _ aim: Aim) -> Bool {
        sendsStop && plan.rest.contains(aim.place.tick &- plan.transport.startTick)
    }

    /// Earliest time for the next pulse, whatever the map says.
    func gapEnd(_ map: TempoMap) -> HostTime {
        lastPulse.advanced(byMicroseconds: train.minimumGap(map.line))
    }

    /// Whether a playing device may continue: it is in its place, or is left where it is.
    private mutating func playsOn(_ plan: OutputPlan) -> Bool {
        guard plan.transport.isPlaying else { return false }
        let inPlace = Device.playing(startTick: plan.transport.startTick)
        guard device != inPlace || isMisplaced else { return true }
        // A song whose beginning is ahead is entered there, and a device that returns enters like a new one.
        let entersAnew = nextPulse <= 0 || device == .returned
        let isLeftAlone = plan.settings.start == .none || !entersAnew && !plan.settings.isBroughtBack
        guard isLeftAlone else { return false }
        if device == .returned { receipts.syncState = .inSync }
        (device, isMisplaced) = (inPlace, false)
        return true
    }
}
