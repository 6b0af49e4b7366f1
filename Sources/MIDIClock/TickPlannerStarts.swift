internal import BeatTime

// How a device enters a song, and which messages come between its pulses.
extension TickPlanner {
    /// Next message for a device that plays in its place: a pulse, or part of a requested realignment.
    mutating func goOn(
        _ plan: OutputPlan, _ aim: Aim, on map: TempoMap, at now: HostTime
    ) -> PlannedMessage {
        if !plan.settings.laterMessages.isPlacing { realignment = nil }
        guard let realignment else { return pulse(aim) }
        let place = realignment == .now ? StartPlan.Place.sixteenthAnew : .barAnew
        let startPlan = validStartPlan(place, plan, on: map, at: now)
        self.startPlan = startPlan
        return pulse(orMessageOf: startPlan, plan, on: map)
    }

    /// Next message for a stopped device that enters a playing song: a pulse, or part of its start.
    mutating func enter(
        _ plan: OutputPlan, on map: TempoMap, at now: HostTime
    ) -> PlannedMessage {
        let isBarWanted = joinsAtBar || isResting(plan, aim(map))
        let startPlan = validStartPlan(isBarWanted ? .topOrBar : .topOrSixteenth, plan, on: map, at: now)
        if !plan.settings.isClockAlwaysOn {
            nextPulse = max(nextPulse, startPlan.pulse - Self.preroll(plan.settings))
        }
        self.startPlan = startPlan
        guard startPlan.messages == .silence else {
            return pulse(orMessageOf: startPlan, plan, on: map)
        }
        return pulse(aim(map), startPlan: nextPulse == startPlan.pulse ? startPlan : nil)
    }

    /// The next pulse; with a start plan if that pulse alone is the whole of it.
    func pulse(_ aim: Aim, startPlan: StartPlan? = nil) -> PlannedMessage {
        // Where a step has put the pulse just behind, it could not be sent before the step.
        let possible = max(aim.due, steppedAt ?? aim.due)
        let due = max(possible, aim.gapEnd)
        return PlannedMessage(
            message: .timingClock, due: due, belated: possible.microseconds(to: due), place: aim.place,
            pulse: nextPulse, startPlan: startPlan)
    }

    private func message(
        of startPlan: StartPlan, _ plan: OutputPlan, on map: TempoMap
    ) -> PlannedMessage {
        PlannedMessage(
            message: startPlan.message(plan, train), due: startPlan.due(plan, train, on: map), belated: 0,
            place: train.grid.place(ofPulse: startPlan.pulse), pulse: startPlan.pulse, startPlan: startPlan)
    }

    /// The next pulse, or the start plan's next message if that comes first.
    private mutating func pulse(
        orMessageOf startPlan: StartPlan, _ plan: OutputPlan, on map: TempoMap
    ) -> PlannedMessage {
        if startPlan.leavesOut(nextPulse, plan, train, on: map) { nextPulse = startPlan.pulse }
        return earlier(pulse(aim(map)), message(of: startPlan, plan, on: map))
    }

    /// The earlier of two messages, but never Start or Continue before a pulse that precedes their own.
    ///
    /// The messages before Start and Continue may come between earlier pulses.
    private func earlier(_ pulse: PlannedMessage, _ other: PlannedMessage) -> PlannedMessage {
        guard other.startPlan?.stage != .move || other.pulse == pulse.pulse else { return pulse }
        return pulse.due < other.due ? pulse : other
    }

    /// The present start plan if it is still possible, else a new one.
    private mutating func validStartPlan(
        _ place: StartPlan.Place, _ plan: OutputPlan, on map: TempoMap, at now: HostTime
    ) -> StartPlan {
        if let startPlan, nextPulse <= startPlan.pulse, startPlan.suits(plan),
            startPlan.isInTime(plan, train, on: map, at: now)
        {
            return startPlan
        }
        if device == .stopped, !plan.settings.isClockAlwaysOn {
            nextPulse = train.first(atOrAfter: max(now, gapEnd(map)), on: map)
        }
        var earliest = nextPulse + Self.preroll(plan.settings)
        if isResting(plan, aim(map)) {
            let end = TickPlace(tick: plan.transport.startTick &+ plan.rest.until)
            earliest = max(earliest, train.grid.pulse(atOrAfter: end))
        }
        return StartPlan.first(place, from: earliest, plan, train, on: map, at: now)
    }

    /// Pulses before Start, if the clock is not always on.
    private static func preroll(_ settings: OutputSettings) -> Int64 {
        settings.isClockAlwaysOn ? 0 : settings.preroll * TickLine.ticksPerBeat
    }
}
