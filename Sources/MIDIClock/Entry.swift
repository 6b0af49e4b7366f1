internal import BeatTime

/// How and at which pulse a device comes into a song.
///
/// At the song's top it is a Start. Anywhere later it is Song Position Pointer, then Continue, at a sixteenth: the
/// only places that message can name; or, for a device that knows no song position, Start at a bar. Nobody starts
/// late in place.
struct Entry: Hashable, BitwiseCopyable {
    /// The song's beat 0 this entry belongs to.
    let startTick: Int64
    /// The pulse with which the device begins to move, counted from the song's beat 0.
    let pulse: Int64
    /// The messages that are still to be sent.
    var stage: Stage
    /// Whether the device is told its place before it moves.
    let isLocating: Bool

    enum Stage: Hashable, BitwiseCopyable {
        /// The device still plays and is to be stopped.
        case stop
        case locate
        /// Only Start or Continue is left.
        case move
    }

    /// The least time between Start or Continue and its pulse, in microseconds: the byte must be through a DIN line.
    private static let leastLead: Int64 = 350

    /// Where a device may enter.
    enum Place {
        /// With the song's top, or else at the next sixteenth.
        case topOrSixteenth
        /// With the song's top, or else at the next bar.
        case topOrBar
        /// At the next bar, after it has been stopped for that.
        case barAnew
    }

    /// The first entry that can be met.
    ///
    /// - Parameters:
    ///   - place: where the device may enter.
    ///   - earliest: the first pulse that it can enter with.
    ///   - plan: with its song playing or pending.
    ///   - train: the output's pulses.
    ///   - map: the tempo map.
    ///   - now: the present host time.
    /// - Returns: an entry whose next message can still leave in time.
    static func first(
        _ place: Place, from earliest: Int64, _ plan: OutputPlan, _ train: PulseTrain, on map: TempoMap,
        at now: HostTime
    ) -> Entry {
        let (startTick, isLocating) = (plan.transport.startTick, plan.settings.realign == .songPosition)
        let top = Entry(startTick: startTick, pulse: 0, stage: .move, isLocating: false)
        if place != .barAnew, earliest <= 0, top.isInTime(plan, train, on: map, at: now) { return top }
        let stage: Stage = place == .barAnew ? .stop : isLocating ? .locate : .move
        let steps = place == .topOrSixteenth && isLocating ? Steps.sixteenths : .bars(isLocating: isLocating)
        var number = steps.last(before: max(earliest, 1), plan.transport, train.grid)
        while true {
            let pulse = steps.pulse(number, plan.transport, train.grid)
            let entry = Entry(startTick: startTick, pulse: pulse, stage: stage, isLocating: isLocating)
            if pulse >= max(earliest, 1), entry.isInTime(plan, train, on: map, at: now) { return entry }
            number += 1
        }
    }

    /// The places after the top, counted.
    private enum Steps {
        /// Those of the device's own count.
        case sixteenths
        /// Bars of the session; with its pulses divided the device's next sixteenth may come a little later.
        case bars(isLocating: Bool)

        func pulse(_ number: Int64, _ transport: PlannedTransport, _ grid: PulseGrid) -> Int64 {
            guard case .bars(let isLocating) = self else { return number * PulseGrid.pulsesPerSixteenth }
            let pulse = grid.pulse(ofBar: number, transport)
            guard isLocating else { return pulse }
            let sixteenth = PulseGrid.pulsesPerSixteenth
            return -(-pulse).floorDivided(by: sixteenth) * sixteenth
        }

        /// A step that lies before a pulse, and not many before it.
        func last(before pulse: Int64, _ transport: PlannedTransport, _ grid: PulseGrid) -> Int64 {
            guard case .bars = self else { return pulse / PulseGrid.pulsesPerSixteenth }
            return (pulse * grid.divide / grid.multiply) / transport.ticksPerBar
        }
    }

    /// Whether this entry's next message can still leave in time.
    func isInTime(_ plan: OutputPlan, _ train: PulseTrain, on map: TempoMap, at now: HostTime) -> Bool {
        let needed = stage == .move ? Self.leastLead : plan.settings.locate
        return now.microseconds(to: train.due(pulse, on: map)) >= needed
    }

    func message(_ plan: OutputPlan, _ train: PulseTrain) -> ClockMessage {
        switch stage {
        case .stop: .stop
        case .locate: .songPosition(train.grid.songPosition(ofPulse: pulse, plan.transport))
        case .move: isLocating ? .continue : .start
        }
    }

    /// When the next message leaves.
    ///
    /// Start and Continue leave `lead` before their pulse, but not within 40 % of the gap after the pulse before;
    /// what comes before them leaves `locate` earlier still.
    func due(_ plan: OutputPlan, _ train: PulseTrain, on map: TempoMap) -> HostTime {
        let moves = train.due(pulse, on: map)
        let previous = train.due(pulse - 1, on: map)
        let earliest = previous.advanced(byMicroseconds: previous.microseconds(to: moves) * 2 / 5)
        let lead = max(moves.advanced(byMicroseconds: -plan.settings.lead), earliest)
        return stage == .move ? lead : lead.advanced(byMicroseconds: -plan.settings.locate)
    }

    /// What is left of it once its next message has gone.
    var afterMessage: Entry? {
        var rest = self
        switch stage {
        case .stop: rest.stage = isLocating ? .locate : .move
        case .locate: rest.stage = .move
        case .move: return nil
        }
        return rest
    }
}
