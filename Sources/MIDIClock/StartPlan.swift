internal import BeatTime

/// How, and at which pulse, a device enters a song.
///
/// The profile decides the messages at the start of the song and later in it: see ``StartMessages``. With Song Position
/// Pointer a device can enter at any sixteenth, with Start or Continue alone only at a bar. If the next message can no
/// longer be sent in time, the device enters at the next place.
struct StartPlan: Hashable, BitwiseCopyable {
    /// Tick of beat 0 of the song.
    let startTick: Int64
    /// Length of the song's bars, in ticks, when the start plan was chosen.
    let ticksPerBar: Int64
    /// The device's rest when the start plan was chosen.
    let rest: Rest
    /// The pulse with which the device starts, counted from the song's beat 0.
    let pulse: Int64
    let messages: StartMessages
    /// The messages still to be sent.
    var stage: Stage

    enum Stage: Hashable, BitwiseCopyable {
        /// The device still plays and must be stopped.
        case stop
        case locate
        /// Only Start or Continue is left, or nothing for a device that gets only the clock.
        case move
    }

    /// Shortest time between Start or Continue and its pulse, in microseconds: a byte on a DIN line takes 320.
    private static let leastLead: Int64 = 350

    /// Where a device may enter.
    enum Place {
        /// At the start of the song, or else at the next sixteenth.
        case topOrSixteenth
        /// At the start of the song, or else at the next bar.
        case topOrBar
        /// At the next bar, after a Stop.
        case barAnew
        /// At the next sixteenth, after a Stop.
        case sixteenthAnew

        var isAnew: Bool { self == .barAnew || self == .sixteenthAnew }
        var isSixteenth: Bool { self == .topOrSixteenth || self == .sixteenthAnew }
    }

    private init(_ messages: StartMessages, at pulse: Int64, _ plan: OutputPlan, isStopping: Bool = false) {
        (startTick, ticksPerBar) = (plan.transport.startTick, plan.transport.ticksPerBar)
        rest = plan.rest
        self.pulse = pulse
        self.messages = messages
        stage = isStopping && plan.settings.sendsStop ? .stop : messages.isLocating ? .locate : .move
    }

    /// The first possible start plan.
    ///
    /// - Parameters:
    ///   - place: where the device may enter.
    ///   - earliest: the first pulse with which it can enter.
    ///   - plan: with its song playing or pending.
    ///   - train: the output's pulses.
    ///   - map: the tempo map.
    ///   - now: the present host time.
    /// - Returns: a start plan with enough time left for its next message.
    static func first(
        _ place: Place, from earliest: Int64, _ plan: OutputPlan, _ train: PulseTrain, on map: TempoMap,
        at now: HostTime
    ) -> StartPlan {
        let top = StartPlan(plan.settings.topMessages, at: 0, plan)
        if !place.isAnew, earliest <= 0, top.isInTime(plan, train, on: map, at: now) { return top }
        let messages = plan.settings.laterMessages
        let steps = Steps(messages, place)
        var number = steps.firstCandidate(for: max(earliest, 1), plan.transport, train.grid)
        while true {
            let pulse = steps.pulse(number, plan.transport, train.grid)
            let startPlan = StartPlan(messages, at: pulse, plan, isStopping: place.isAnew)
            if pulse >= max(earliest, 1), startPlan.isInTime(plan, train, on: map, at: now) { return startPlan }
            number += 1
        }
    }

    /// The possible places after the start of the song; each has a number.
    private enum Steps {
        /// Any pulse, for a device that gets only the clock.
        case pulses
        /// Sixteenths by the device's own count.
        case sixteenths
        /// Bars of the session.
        ///
        /// A device that is sent its song position enters at its first sixteenth at or after the bar; if pulses are
        /// divided, that may be after it.
        case bars(isLocating: Bool)

        init(_ messages: StartMessages, _ place: Place) {
            switch messages {
            case .silence: self = .pulses
            case .locate where place.isSixteenth: self = .sixteenths
            default: self = .bars(isLocating: messages == .locate)
            }
        }

        func pulse(_ number: Int64, _ transport: PlannedTransport, _ grid: PulseGrid) -> Int64 {
            let sixteenth = PulseGrid.pulsesPerSixteenth
            switch self {
            case .pulses: return number
            case .sixteenths: return number * sixteenth
            case .bars(let isLocating):
                let pulse = grid.pulse(ofBar: number, transport)
                return isLocating ? -(-pulse).floorDivided(by: sixteenth) * sixteenth : pulse
            }
        }

        /// The number of the step to search from: a smaller number is before the pulse, or at the same place as this step.
        func firstCandidate(for pulse: Int64, _ transport: PlannedTransport, _ grid: PulseGrid) -> Int64 {
            switch self {
            case .pulses: pulse
            case .sixteenths: pulse / PulseGrid.pulsesPerSixteenth
            case .bars: (pulse * grid.divide / grid.multiply) / transport.ticksPerBar
            }
        }
    }

    /// Whether the start plan is still right for a newer plan: the same song, place and messages.
    func suits(_ plan: OutputPlan) -> Bool {
        let (transport, settings) = (plan.transport, plan.settings)
        guard rest == plan.rest, startTick == transport.startTick, pulse == 0 || ticksPerBar == transport.ticksPerBar
        else { return false }
        return messages == (pulse == 0 ? settings.topMessages : settings.laterMessages)
            && (stage != .stop || settings.sendsStop)
    }

    /// Whether the start plan's next message can still be sent, even if later than it was due.
    func isInTime(_ plan: OutputPlan, _ train: PulseTrain, on map: TempoMap, at now: HostTime) -> Bool {
        let left = now.microseconds(to: train.due(pulse, on: map))
        let (settings, timeForStart) = (plan.settings, Self.leastTimeForStart(plan.settings))
        switch (messages, stage) {
        case (.silence, _): return left >= 0
        case (_, .move): return left >= timeForStart
        case (_, .stop), (_, .locate):
            return left
                >= (settings.keepsLeadClear ? settings.locate + timeForStart : max(Self.leastLead, settings.locate))
        }
    }

    /// Shortest time that must be left for Start or Continue, in microseconds; negative if it may leave after its pulse.
    ///
    /// A device that wants them almost together with their pulse gets them slightly late rather than never. A lead that is
    /// kept clear may be a tenth shorter.
    private static func leastTimeForStart(_ settings: OutputSettings) -> Int64 {
        guard settings.lead >= leastLead else { return settings.lead - leastLead }
        return settings.keepsLeadClear ? settings.lead * 9 / 10 : leastLead
    }

    func message(_ plan: OutputPlan, _ train: PulseTrain) -> ClockMessage {
        switch stage {
        case .stop: .stop
        case .locate:
            .songPosition(messages == .locateTop ? 0 : train.grid.songPosition(ofPulse: pulse, plan.transport))
        case .move: messages == .start ? .start : .continue
        }
    }

    /// When to send the next message.
    ///
    /// Start and Continue are sent `lead` before their pulse, but not in the first 40 % of the gap after the previous
    /// pulse, unless that is left out. What precedes them is sent `locate` earlier still.
    func due(_ plan: OutputPlan, _ train: PulseTrain, on map: TempoMap) -> HostTime {
        var lead = leadBegin(plan, train, on: map)
        if !plan.settings.keepsLeadClear { lead = max(lead, train.afterPulse(pulse - 1, on: map)) }
        return stage == .move ? lead : lead.advanced(byMicroseconds: -plan.settings.locate)
    }

    private func leadBegin(_ plan: OutputPlan, _ train: PulseTrain, on map: TempoMap) -> HostTime {
        train.due(pulse, on: map).advanced(byMicroseconds: -plan.settings.lead)
    }

    /// Whether an earlier pulse is left out because it would come, or end, within a lead that is kept clear.
    ///
    /// A pulse lasts at most half the gap after it.
    func leavesOut(_ earlier: Int64, _ plan: OutputPlan, _ train: PulseTrain, on map: TempoMap) -> Bool {
        guard plan.settings.keepsLeadClear, earlier < pulse else { return false }
        let end = train.due(earlier, on: map).advanced(byMicroseconds: train.gap(map.line) / 2)
        return end > leadBegin(plan, train, on: map)
    }

    /// The rest of the start plan after its next message is sent.
    var afterMessage: StartPlan? {
        var rest = self
        switch stage {
        case .stop: rest.stage = messages.isLocating ? .locate : .move
        case .locate: rest.stage = .move
        case .move: return nil
        }
        return rest
    }
}
