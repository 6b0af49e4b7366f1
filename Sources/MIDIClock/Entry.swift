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

    /// Where and how to look for a place to enter.
    struct Search {
        let plan: OutputPlan
        let train: PulseTrain
        let now: HostTime
        /// The first pulse that the device can enter with.
        let earliest: Int64
    }

    /// The first entry that can be met: Start at the top, or the first place after it.
    ///
    /// - Parameters:
    ///   - search: where and how to look.
    ///   - map: the tempo map.
    ///   - atBar: whether to wait for a bar instead of a sixteenth when the top has passed.
    /// - Returns: an entry whose next message can still leave in time.
    static func first(_ search: Search, on map: TempoMap, atBar: Bool) -> Entry {
        let transport = search.plan.transport
        let top = Entry(startTick: transport.startTick, pulse: 0, stage: .move, isLocating: false)
        if top.pulse >= search.earliest, top.isInTime(search.plan, search.train, on: map, at: search.now) {
            return top
        }
        let isLocating = search.plan.settings.realign == .songPosition
        let step =
            atBar || !isLocating ? search.train.grid.pulsesPerBar(transport) : PulseGrid.pulsesPerSixteenth
        return next(search, on: map, step: step, stage: isLocating ? .locate : .move)
    }

    /// The first bar at which a device that plays can be stopped and placed anew.
    static func realigning(_ search: Search, on map: TempoMap) -> Entry {
        next(search, on: map, step: search.train.grid.pulsesPerBar(search.plan.transport), stage: .stop)
    }

    private static func next(_ search: Search, on map: TempoMap, step: Int64, stage: Stage) -> Entry {
        let isLocating = search.plan.settings.realign == .songPosition
        var pulse = max(step, -(-search.earliest).floorDivided(by: step) * step)
        while true {
            let entry = Entry(
                startTick: search.plan.transport.startTick, pulse: pulse, stage: stage, isLocating: isLocating)
            if entry.isInTime(search.plan, search.train, on: map, at: search.now) { return entry }
            pulse += step
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
