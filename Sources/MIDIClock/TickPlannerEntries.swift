internal import BeatTime

// How a device enters a song, and which messages come between its pulses.
extension TickPlanner {
    /// Next message for a device that plays in its place: a pulse, or part of a requested realignment.
    mutating func goOn(
        _ plan: OutputPlan, _ aim: Aim, on map: TempoMap, at now: HostTime
    ) -> PlannedMessage {
        if !plan.settings.laterMessages.isPlacing { realignment = nil }
        guard let realignment else { return pulse(aim) }
        let place = realignment == .now ? Entry.Place.sixteenthAnew : .barAnew
        let entry = validEntry(place, plan, on: map, at: now)
        self.entry = entry
        return earlier(pulse(aim), message(of: entry, plan, on: map))
    }

    /// Next message for a stopped device that enters a playing song: a pulse, or part of its entry.
    mutating func enter(
        _ plan: OutputPlan, on map: TempoMap, at now: HostTime
    ) -> PlannedMessage {
        let entry = validEntry(joinsAtBar ? .topOrBar : .topOrSixteenth, plan, on: map, at: now)
        if !plan.settings.isClockAlwaysOn {
            nextPulse = max(nextPulse, entry.pulse - Self.preroll(plan.settings))
        }
        self.entry = entry
        guard entry.messages == .silence else {
            return earlier(pulse(aim(map)), message(of: entry, plan, on: map))
        }
        return pulse(aim(map), entry: nextPulse == entry.pulse ? entry : nil)
    }

    /// The next pulse; with an entry if that pulse alone is the entry.
    func pulse(_ aim: Aim, entry: Entry? = nil) -> PlannedMessage {
        // Where a step has put the pulse just behind, it could not be sent before the step.
        let possible = max(aim.due, steppedAt ?? aim.due)
        let due = max(possible, aim.gapEnd)
        return PlannedMessage(
            message: .timingClock, due: due, belated: possible.microseconds(to: due), place: aim.place,
            pulse: nextPulse, entry: entry)
    }

    private func message(
        of entry: Entry, _ plan: OutputPlan, on map: TempoMap
    ) -> PlannedMessage {
        PlannedMessage(
            message: entry.message(plan, train), due: entry.due(plan, train, on: map), belated: 0,
            place: train.grid.place(ofPulse: entry.pulse), pulse: entry.pulse, entry: entry)
    }

    /// The earlier of two messages, but never Start or Continue before a pulse that precedes their own.
    ///
    /// The messages before Start and Continue may come between earlier pulses.
    private func earlier(_ pulse: PlannedMessage, _ other: PlannedMessage) -> PlannedMessage {
        guard other.entry?.stage != .move || other.pulse == pulse.pulse else { return pulse }
        return pulse.due < other.due ? pulse : other
    }

    /// The present entry if it is still possible, else a new one.
    private mutating func validEntry(
        _ place: Entry.Place, _ plan: OutputPlan, on map: TempoMap, at now: HostTime
    ) -> Entry {
        if let entry, nextPulse <= entry.pulse, entry.suits(plan), entry.isInTime(plan, train, on: map, at: now) {
            return entry
        }
        if device == .stopped, !plan.settings.isClockAlwaysOn {
            nextPulse = train.first(atOrAfter: max(now, gapEnd(map)), on: map)
        }
        let earliest = nextPulse + Self.preroll(plan.settings)
        return Entry.first(place, from: earliest, plan, train, on: map, at: now)
    }

    /// Pulses before Start, if the clock is not always on.
    private static func preroll(_ settings: OutputSettings) -> Int64 {
        settings.isClockAlwaysOn ? 0 : settings.preroll * TickLine.ticksPerBeat
    }
}
