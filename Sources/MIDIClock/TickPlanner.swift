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
    /// Nil before the first plan.
    private var train: PulseTrain?
    /// The next pulse to send, counted as the train counts them.
    private var nextPulse: Int64 = 0
    /// When the last pulse left, from which the next must keep its distance.
    private var lastPulse = HostTime(microseconds: .min / 2)
    private var device = Device.stopped
    /// Whether the device plays at the wrong place of the song.
    private var isMisplaced = false
    private var entry: Entry?
    /// Whether the device was connected anew and has to find a bar to join at.
    private var joinsAtBar = false
    /// Whether the device, though playing, is to be placed anew at a bar.
    private var wantsRealignment = false

    /// What the device is doing, as far as it obeys.
    private enum Device: Hashable, BitwiseCopyable {
        case stopped
        /// Its song position is counted from the tick given.
        case playing(startTick: Int64)
    }

    public init() {}

    /// A device has come: a song that plays is joined at the next bar.
    ///
    /// - Parameter isReturning: whether one was here before. It may have played on behind a pulled cable, so it is
    ///   stopped first.
    public mutating func deviceConnected(isReturning: Bool) {
        device = isReturning ? .playing(startTick: .min) : .stopped
        entry = nil
        joinsAtBar = true
    }

    /// Places the device anew at the next bar, if it plays.
    public mutating func realign() { wantsRealignment = device != .stopped }

    /// The last message for a device that plays, for when the program ends.
    public mutating func finish() -> ClockMessage? {
        defer { device = .stopped }
        return device == .stopped ? nil : .stop
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
        var (train, aim) = follow(plan, on: map, at: now)
        defer { self.train = train }
        if case .playing(let startTick) = device {
            guard plan.transport.isPlaying, plan.transport.startTick == startTick, !isMisplaced else {
                return PlannedMessage(
                    message: .stop, due: now, belated: 0, place: train.grid.place(ofPulse: nextPulse),
                    pulse: nextPulse, entry: nil)
            }
            return goOn(plan, train, aim, on: map, at: now)
        }
        isMisplaced = false
        wantsRealignment = false
        guard plan.transport.isPlaying else {
            entry = nil
            joinsAtBar = false
            return plan.settings.isClockAlwaysOn ? pulse(aim) : nil
        }
        return enter(plan, &train, on: map, at: now)
    }

    /// Whether ``next(_:on:at:)`` would say again what it said of a copy that went ahead, plan and map being the same.
    ///
    /// - Parameters:
    ///   - ahead: what it said, when the copy had been told that the messages before had left.
    ///   - map: the tempo map.
    ///   - now: the present host time.
    /// - Returns: whether it need not be asked again.
    public func stillExpects(_ ahead: PlannedMessage, on map: TempoMap, at now: HostTime) -> Bool {
        guard let train, ahead.message == .timingClock, ahead.pulse == nextPulse, ahead.belated == 0,
            entry == nil, !isMisplaced, !wantsRealignment
        else { return false }
        return now <= ahead.due && gapEnd(train, map) <= ahead.due
    }

    /// Notes that a message has left.
    ///
    /// - Parameters:
    ///   - planned: what ``next(_:on:at:)`` of this planner, or of a copy that went ahead, gave.
    ///   - time: when it left.
    public mutating func sent(_ planned: PlannedMessage, at time: HostTime) {
        switch planned.message {
        case .timingClock:
            nextPulse = planned.pulse + 1
            lastPulse = time
            return
        case .stop: device = .stopped
        case .songPosition: break
        case .start, .continue:
            if let entry = planned.entry { device = .playing(startTick: entry.startTick) }
            joinsAtBar = false
        }
        isMisplaced = false
        wantsRealignment = false
        entry = planned.entry?.afterMessage
    }

    /// Where the next pulse falls, when it leaves if nothing keeps it, and what keeps it.
    private struct Aim: BitwiseCopyable {
        var place: TickPlace
        var due: HostTime
        var gapEnd: HostTime
    }

    private func aim(_ train: PulseTrain, _ map: TempoMap) -> Aim {
        let place = train.grid.place(ofPulse: nextPulse)
        return Aim(place: place, due: train.due(at: place, on: map), gapEnd: gapEnd(train, map))
    }

    /// Brings the train of pulses up to date, and finds its next pulse again if it was broken.
    private mutating func follow(_ plan: OutputPlan, on map: TempoMap, at now: HostTime) -> (PulseTrain, Aim) {
        guard var train else {
            let train = PulseTrain(plan, on: map)
            nextPulse = train.first(atOrAfter: now, on: map)
            return (train, aim(train, map))
        }
        var isBroken = false
        let isClockOn = plan.settings.isClockAlwaysOn || device != .stopped
        switch train.follow(plan, on: map, next: &nextPulse, at: now) {
        case .none: break
        case .regrouped:
            wantsRealignment = device != .stopped
            entry = nil
        case .broken: isBroken = true
        }
        // Late after a stall; that pulses keep their distance is not lateness, whenever it is asked for.
        let aim = aim(train, map)
        let lateness = aim.due.microseconds(to: max(now, aim.gapEnd))
        if isClockOn || entry != nil, lateness > train.catchUpLimit(map.line) { isBroken = true }
        // Far ahead after a tempo that fell while nobody told us.
        if isClockOn, train.due(nextPulse - 7, on: map) > now { isBroken = true }
        guard isBroken else { return (train, aim) }
        nextPulse = train.first(atOrAfter: max(now, aim.gapEnd), on: map)
        entry = nil
        isMisplaced = device != .stopped
        return (train, self.aim(train, map))
    }

    /// Before this time no pulse may leave, whatever the map says.
    private func gapEnd(_ train: PulseTrain, _ map: TempoMap) -> HostTime {
        lastPulse.advanced(byMicroseconds: train.minimumGap(map.line))
    }

    private func pulse(_ aim: Aim) -> PlannedMessage {
        let due = max(aim.due, aim.gapEnd)
        return PlannedMessage(
            message: .timingClock, due: due, belated: aim.due.microseconds(to: due), place: aim.place,
            pulse: nextPulse, entry: nil)
    }

    /// A device that plays where it should: pulses, and a realignment if one is wanted.
    private mutating func goOn(
        _ plan: OutputPlan, _ train: PulseTrain, _ aim: Aim, on map: TempoMap, at now: HostTime
    ) -> PlannedMessage {
        let pulse = pulse(aim)
        guard wantsRealignment else { return pulse }
        let entry = validEntry(.barAnew, plan, train, on: map, at: now)
        self.entry = entry
        return earlier(pulse, message(of: entry, plan, train, on: map))
    }

    /// Brings a stopped device into a song that plays: its messages among the pulses, each in its turn.
    private mutating func enter(
        _ plan: OutputPlan, _ train: inout PulseTrain, on map: TempoMap, at now: HostTime
    ) -> PlannedMessage {
        let entry = validEntry(joinsAtBar ? .topOrBar : .topOrSixteenth, plan, train, on: map, at: now)
        if !plan.settings.isClockAlwaysOn, entry != self.entry {
            nextPulse = entry.pulse - Self.preroll(plan.settings)
        }
        self.entry = entry
        let pulse = pulse(aim(train, map))
        // Start and Continue come right before their own pulse; Song Position Pointer may come among earlier ones.
        guard nextPulse == entry.pulse || entry.stage != .move else { return pulse }
        return earlier(pulse, message(of: entry, plan, train, on: map))
    }

    private func message(
        of entry: Entry, _ plan: OutputPlan, _ train: PulseTrain, on map: TempoMap
    ) -> PlannedMessage {
        PlannedMessage(
            message: entry.message(plan, train), due: entry.due(plan, train, on: map), belated: 0,
            place: train.grid.place(ofPulse: entry.pulse), pulse: entry.pulse, entry: entry)
    }

    private func earlier(_ pulse: PlannedMessage, _ other: PlannedMessage) -> PlannedMessage {
        pulse.due < other.due ? pulse : other
    }

    /// The entry in progress if it can still be met, else a new one.
    private mutating func validEntry(
        _ place: Entry.Place, _ plan: OutputPlan, _ train: PulseTrain, on map: TempoMap, at now: HostTime
    ) -> Entry {
        if let entry, entry.startTick == plan.transport.startTick, nextPulse <= entry.pulse,
            entry.isInTime(plan, train, on: map, at: now)
        {
            return entry
        }
        if device == .stopped, !plan.settings.isClockAlwaysOn {
            nextPulse = train.first(atOrAfter: max(now, gapEnd(train, map)), on: map)
        }
        let earliest = nextPulse + Self.preroll(plan.settings)
        return Entry.first(place, from: earliest, plan, train, on: map, at: now)
    }

    /// Pulses that go before Start where the clock is not always on.
    private static func preroll(_ settings: OutputSettings) -> Int64 {
        settings.isClockAlwaysOn ? 0 : settings.preroll * TickLine.ticksPerBeat
    }
}
