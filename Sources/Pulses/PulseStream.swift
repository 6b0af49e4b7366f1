package import BeatTime
package import MIDIClock

/// A line goes on or off, or begins a click.
package struct PulseEdge: Hashable, Sendable, BitwiseCopyable {
    /// The line's place in the settings.
    package let line: Int
    package let time: HostTime
    package let isOn: Bool
    /// The line's level from then on, or that of the click, as a share of full scale.
    package let level: Float
    /// The sound that begins; nil for what has no sound.
    package let click: Click?
}

/// Says, for the lines of one machine, which of them goes on or off next, and when.
///
/// What a MIDI machine would be sent is turned into edges: a tick is a pulse, Start and Stop are what `run` follows. So
/// offset, swing, folding, muting and catching up are the tick planner's.
///
/// A plain value that allocates nothing after its beginning.
///
///     TempoMap + OutputPlan -> TickPlanner -> PlannedMessage -> LineState, one per line -> PulseEdge
package struct PulseStream: Sendable {
    package let settings: PulseSettings
    private var planner = TickPlanner()
    private var lines: [LineState]
    /// Everything before this time is decided.
    private var decided = HostTime(microseconds: .min / 2)
    /// The newest message, when it takes effect, and the first line that has not followed it yet.
    private var newest: (planned: PlannedMessage, time: HostTime, line: Int)?

    package init(_ settings: PulseSettings) {
        self.settings = settings
        lines = settings.lines.map { LineState($0, pulsesPerBeat: settings.pulsesPerBeat) }
    }

    /// The next edge in a stretch of time; with it, it has happened.
    ///
    /// Ask for the edges of a stretch until there are no more, and then for those of the next one.
    ///
    /// - Parameters:
    ///   - plan: the newest plan; it may differ from the last one in any way. What the lines decide in its settings, such
    ///     as how the machine is started, is ignored.
    ///   - map: the newest tempo map.
    ///   - begin: the beginning of the stretch, where the last one ended.
    ///   - end: the end of the stretch.
    /// - Returns: an edge of any line; the edges of one line are in order.
    package mutating func next(
        _ plan: OutputPlan, on map: TempoMap, from begin: HostTime, until end: HostTime
    ) -> PulseEdge? {
        decided = max(decided, begin)
        var plan = plan
        plan.settings = settings.driving(plan.settings)
        while true {
            if let edge = edgeOfNewest() { return edge }
            let planned = planner.next(plan, on: map, at: decided)
            for index in lines.indices { lines[index].look(at: plan, planner, on: map, from: decided) }
            let time = planned.map(time(of:)) ?? end
            if let edge = endOfPulse(until: min(time, end.advanced(byMicroseconds: -1))) { return edge }
            guard let planned, time < end else { return nil }
            planner.sent(planned, at: time)
            decided = time
            newest = (planned, time, 0)
        }
    }

    /// The next line that follows the newest message.
    private mutating func edgeOfNewest() -> PulseEdge? {
        guard let (planned, time, first) = newest.take() else { return nil }
        for index in first..<lines.count {
            guard let isOn = lines[index].follow(planned, at: time, leastLead: settings.leastLead) else { continue }
            newest = (planned, time, index + 1)
            guard case .click(let levels) = settings.lines[index].signal, let click = lines[index].click(with: planned)
            else { return edge(of: index, at: time, isOn: isOn) }
            return PulseEdge(line: index, time: time, isOn: true, level: levels[click], click: click)
        }
        return nil
    }

    private mutating func endOfPulse(until time: HostTime) -> PulseEdge? {
        for index in lines.indices {
            guard let fall = lines[index].fall, fall <= time else { continue }
            lines[index].goOff()
            return edge(of: index, at: fall, isOn: false)
        }
        return nil
    }

    private func edge(of line: Int, at time: HostTime, isOn: Bool) -> PulseEdge {
        PulseEdge(line: line, time: time, isOn: isOn, level: settings.lines[line].level(isOn: isOn), click: nil)
    }

    /// When a message takes effect: not before the lines that it turns on have been off for long enough.
    private func time(of planned: PlannedMessage) -> HostTime {
        lines.reduce(max(planned.due, decided)) { time, line in
            line.goesOn(with: planned) ? max(time, line.earliestRise) : time
        }
    }

    /// Notes that the card has fallen silent: all lines are off, until the next edge.
    ///
    /// A machine that was told to play has stopped, and is started again at a bar. Pulses that have become late are made up
    /// for, or left out if they are too late.
    package mutating func fellSilent() {
        for index in lines.indices { lines[index].fallSilent() }
        newest = nil
        if settings.hasTransport { planner.fallSilent() }
    }

    /// Requests that a machine that plays is started anew, at a bar.
    package mutating func realign() { planner.realign(.atBar) }

    /// The pulses left out since this was last called, ``PulseSettings/pulsesPerBeat`` of them per beat.
    package mutating func takeSkipped() -> TickPlanner.Skipped { planner.takeSkipped() }
}
