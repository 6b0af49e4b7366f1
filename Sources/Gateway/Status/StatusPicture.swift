internal import ALSASequencer
internal import Arbiter
internal import BeatTime
internal import CardOutput
internal import ClockDispatch
internal import ConfigurationFiles
internal import GatewayStatus
internal import Glibc
internal import LinkNetwork
internal import LinkSession
internal import MIDIClock
internal import RealTime
internal import Synchronization
internal import TimeCode

/// The engine's part of the status; values that change with time are computed on request.
struct StatusPicture: Sendable {
    let configuration: LiveConfiguration
    let link: LinkState
    let leadership: Leadership
    /// Whose clock the user wants followed.
    let follow: FollowChoice
    let list: PortList
    /// What there is to tell about incoming clocks.
    let inputNotices: [Notice]
    private let table: OutputTable
    private let controls: ControlTable
    /// The session's tempo if it is outside the fence.
    private let tempoOutside: Tempo?
    /// What outputs fold tempos into.
    private let fold: TempoRange?
    let hasLostNetwork: Bool
    /// When this run began, if the user may want to resume the song of the last one.
    let restartedAt: String?
    /// What an undo would do; nil if there is nothing to undo.
    let undo: String?
    /// What the last tap said, and when.
    private let tapped: (reading: TapTempo.Reading, at: HostTime)?

    init(_ engine: GatewayEngine, at now: HostTime) {
        configuration = engine.configuration
        link = engine.link
        leadership = engine.arbiter.leadership
        follow = engine.inputs.sources.choice
        list = engine.patchbay.list
        inputNotices = engine.inputs.notices(engine.arbiter, engine.outputs.all)
        table = engine.outputs
        controls = engine.controls
        (tempoOutside, fold) = (engine.arbiter.tempoOutside, engine.arbiter.folding)
        hasLostNetwork = engine.hasLostNetwork
        // Until then it may go on by itself.
        let isDecided = engine.recovery.deadline == nil && engine.playsOnceReady == nil
        restartedAt = isDecided ? engine.restartedAt : nil
        undo = engine.undoText(at: now)
        tapped = engine.tapped
    }

    /// The outputs by their slots; some may be gone.
    var outputs: [Output] { table.all }

    /// Facts about the machine.
    struct Machine: Sendable {
        let realTime: RealTimeRight
        let isProcessLocked: Bool
        /// Why there is no sequencer although one was wanted.
        let sequencerTrouble: ALSAError?
    }

    /// The status at a moment.
    ///
    /// - Parameters:
    ///   - now: the moment.
    ///   - counters: the output thread's.
    ///   - cards: what is known of sound cards that play, by their names.
    ///   - machine: what the machine allows.
    /// - Returns: the status.
    func status(
        at now: HostTime, counters: OutputThread, cards: [String: OutputCard.Figures] = [:], on machine: Machine
    ) -> Status {
        let (timeline, quantum, transport) = (leadership.timeline, leadership.quantum, leadership.transport)
        let ahead = Double(transport.startTick) - leadership.line.position(at: now)
        let isPending = transport.isPlaying && ahead > 0
        return Status(
            version: Status.version, pid: Int(getpid()), mode: Mode(leadership.mode),
            reason: leadership.follower.reason,
            tempo: timeline.tempo.beatsPerMinute, beat: timeline.shownBeats(at: now, quantum: quantum).value,
            phase: timeline.phase(at: now, quantum: quantum).value, quantum: quantum.value,
            playing: transport.isPlaying,
            transport: isPending ? .pending : transport.isPlaying ? .playing : .stopped,
            startsInBeats: isPending ? ahead / Double(TickLine.ticksPerBeat) : nil,
            songBeats: transport.isPlaying && !isPending ? -ahead / Double(TickLine.ticksPerBeat) : nil,
            link: linkStatus,
            follower: Status.Follower(leadership.follower, choice: follow),
            outputs: slots.map { outputStatus(slot: $0, counters, cards, at: now) },
            realtime: .init(
                scheduling: machine.realTime.scheduling.name, priority: Int(machine.realTime.scheduling.priority),
                memoryLocked: machine.isProcessLocked || counters.isMemoryLocked, dispatch: counters.mode.name,
                wakeUpLatencyMicroseconds: Status.Lateness(counters.wakeUps)),
            warnings: notices(counters: counters, on: machine).map(Status.Warning.init), undo: undo,
            taps: taps(at: now))
    }

    /// What the user should know now.
    ///
    /// - Parameters:
    ///   - counters: the output thread's.
    ///   - machine: what the machine allows.
    /// - Returns: one notice for each problem.
    func notices(counters: OutputThread, on machine: Machine) -> [Notice] {
        (restartedAt.map { [.restarted($0)] } ?? []) + machine.notices + linkNotices + deviceNotices
            + configuration.notices + table.notices + inputNotices
            + controls.notices + dispatchNotice(counters, machine) + slots.compactMap { syncNotice(slot: $0, counters) }
            + slots.compactMap { droppedNotice(slot: $0, counters) }
    }

    /// How many taps agree; nil once the next one would begin anew.
    private func taps(at now: HostTime) -> Status.Taps? {
        guard let tapped, tapped.at.microseconds(to: now) <= TapTempo.longest else { return nil }
        return Status.Taps(counted: tapped.reading.counted, wanted: tapped.reading.wanted)
    }

    /// Slots of the outputs that are wanted.
    private var slots: [Int] { outputs.indices.filter { outputs[$0].presence == .here } }

    private func dispatchNotice(_ thread: OutputThread, _ machine: Machine) -> [Notice] {
        guard thread.lacksQueue(scheduling: machine.realTime.scheduling) else { return [] }
        return [thread.queueFailure.map(Notice.unusableQueue) ?? .noQueueWithoutSequencer(machine.sequencerTrouble)]
    }

    private var linkStatus: Status.Link {
        .init(
            enabled: link.isEnabled, active: link.isNetworking, connected: link.peerCount > 0, peers: link.peerCount,
            sessionId: link.isNetworking ? "\(link.sessionID)" : nil, startStopSync: link.isStartStopSyncEnabled,
            interfaces: link.interfaces, measurementErrorMicroseconds: link.measurementErrorMicroseconds,
            lastChange: link.changes.last.map(Status.Change.init))
    }

    private func outputStatus(
        slot: Int, _ counters: OutputThread, _ cards: [String: OutputCard.Figures], at now: HostTime
    ) -> Status.Output {
        let output = outputs[slot]
        let (settings, tempo) = (output.settings, 60e6 / Double(leadership.line.microsecondsPerBeat))
        let tempos = output.tempos(foldedInto: fold)
        let hasClock =
            output.connectedTo != nil && output.isEnabled && output.boardSink != .idle
            && (settings.isClockAlwaysOn || leadership.transport.isPlaying)
        return counters.withCounters(of: slot) { count in
            Status.Output(
                id: output.id, name: output.name, profile: output.profile?.id,
                port: output.connectedTo ?? output.ownPort,
                connected: output.connectedTo != nil, enabled: output.isEnabled,
                ticks: count.ticks.load(ordering: .relaxed),
                lateTicks: count.lateTicks.load(ordering: .relaxed),
                skippedTicks: count.skippedTicks.load(ordering: .relaxed),
                offsetMilliseconds: Double(output.offset) / 1_000,
                multiply: Int(settings.multiply), divide: Int(settings.divide),
                swing: Double(settings.swing) / 10,
                range: tempos == .all ? nil : [tempos.lowest, tempos.highest].map { Double($0) / 1_000 },
                sentTempo: hasClock && output.isClock && output.pulses == nil
                    ? (tempo * count.pulsesPerTick * 100).rounded() / 100 : nil,
                latenessMicroseconds: output.isAway ? nil : Status.Lateness(count.lateness),
                lastMinute: output.isAway ? nil : Status.Punctuality(count.lastMinute(at: now)),
                timeCode: output.timeCode?.rate.name,
                soundCard: output.connectedTo.flatMap { cards[$0] }.map(Status.SoundCard.init),
                groups: output.request.groups, bend: output.bend(at: now),
                muted: output.muted.isMuted,
                changesAtBeat: output.muted.change(in: leadership.transport, at: leadership.line.position(at: now)))
        }
    }

    /// Tells that the present device of an output has not accepted what it was sent.
    private func syncNotice(slot: Int, _ counters: OutputThread) -> Notice? {
        let output = outputs[slot]
        guard output.connectedTo != nil, output.sink.hasReceiver else { return nil }
        let isPlaying = leadership.transport.isPlaying
        let syncState = counters.withCounters(of: slot) {
            TickPlanner.SyncState(rawValue: $0.syncState.load(ordering: .relaxed)) ?? .inSync
        }
        return switch syncState {
        case .inSync: nil
        case .outOfSync: .outOfSync(output.subject, isPlaying: isPlaying)
        case .someOutOfSync: .someOutOfSync(output.subject, isPlaying: isPlaying)
        }
    }

    private func droppedNotice(slot: Int, _ counters: OutputThread) -> Notice? {
        let dropped = counters.withCounters(of: slot) { $0.dropped.load(ordering: .relaxed) }
        return dropped > 0 && !outputs[slot].lacksDevice ? .dropped(outputs[slot].subject, dropped) : nil
    }

    /// Error of the session's clock that can be heard, in microseconds.
    private static let audibleError = 5_000.0

    var linkNotices: [Notice] {
        var notices = link.failures.map { Notice.unusableInterface("\($0)") }
        if hasLostNetwork { notices.append(.networkLost) } else if link.hasLostPeers { notices.append(.peersLost) }
        if !link.leftOut.isEmpty { notices.append(.leftOutAddresses(link.leftOut)) }
        if let unreachable = link.unreachable { notices.append(.unreachablePeer(unreachable)) }
        if let fence = configuration.fence, let tempoOutside {
            let held = 60e6 / Double(leadership.line.microsecondsPerBeat)
            notices.append(.tempoOutside(tempoOutside.beatsPerMinute, fence, outputsHold: held))
        }
        if let address = link.crowdingAddress { notices.append(.crowd(address)) }
        if let address = link.extremeNumbersAddress { notices.append(.extremeNumbers(address)) }
        if let error = link.measurementErrorMicroseconds, error > Self.audibleError {
            notices.append(.vagueClock(error))
        }
        return notices
    }

    /// What there is to tell about devices that are absent or stuck.
    private var deviceNotices: [Notice] {
        let here = slots.map { outputs[$0] }
        let absent = here.filter { $0.connectedTo == nil }.compactMap { output -> Notice? in
            if let trouble = output.trouble { return .outputAway(output.subject, trouble) }
            guard output.hasLostDevice, output.isEnabled else { return nil }
            return output.loss(isPlaying: leadership.transport.isPlaying)
        }
        return absent + here.filter(\.isStuck).map { .deviceStuck($0.subject) }
    }
}

extension StatusPicture.Machine {
    fileprivate var notices: [Notice] {
        [sequencerTrouble.map(Notice.noSequencer), realTime.notice].compactMap(\.self)
    }
}

extension Scheduling {
    /// As the status names it.
    fileprivate var name: String {
        switch self {
        case .fifo: "fifo"
        case .roundRobin: "rr"
        case .other: "other"
        }
    }
}

extension Output {
    /// Whether its device is absent, so that there are no figures.
    fileprivate var isAway: Bool { sink == .idle || lacksDevice }

    /// Our own port, for an output that waits for subscribers.
    fileprivate var ownPort: String? { takesSubscribers ? source?.description : nil }

    /// How it is bent, and how far it is from its place; nil if it is in its place.
    fileprivate func bend(at now: HostTime) -> Status.Bend? {
        let (percent, shift) = (Double(bending.rate) / 10_000, bending.shift(at: now))
        return percent == 0 && shift == 0 ? nil : Status.Bend(percent: percent, milliseconds: Double(shift) / 1_000)
    }

    /// Tells that its device was removed, and what happens when it returns.
    func loss(isPlaying: Bool) -> Notice {
        let back: Notice.Return =
            isPlaying && settings.takesTransport
            ? .atNextBar : isPlaying || settings.isClockAlwaysOn ? .withNextTick : .withNextSong
        return .deviceLost(subject, isMachine: isMachine, back)
    }
}

extension Status.SoundCard {
    fileprivate init(_ figures: OutputCard.Figures) {
        self.init(
            sampleRate: figures.sampleRate, ownClock: figures.hasOwnClock, partsPerMillion: figures.partsPerMillion,
            errorPartsPerMillion: figures.error, underruns: figures.underruns)
    }
}

extension Status.Lateness {
    /// The figures of a histogram; nil if it is empty.
    init?(_ histogram: borrowing LatencyHistogram) {
        guard let median = histogram.quantile(0.5), let most = histogram.quantile(0.99) else { return nil }
        self.init(
            p50: Double(median), p99: Double(most), max: Double(histogram.maximum),
            histogram: Histogram(
                counts: histogram.counts(below: Histogram.limits.map(Int64.init)), sum: Int(histogram.total)))
    }
}

extension Status.Punctuality {
    /// Lateness of a single tick that can be heard, in microseconds.
    private static let audible = 5_000

    /// Counts and a verdict; nil if there are no ticks.
    init?(_ tally: RecentTicks.Tally) {
        guard tally.ticks > 0 else { return nil }
        let isLoose = tally.worst > Self.audible || tally.isLate(moreThanOneIn: 1_000)
        self.init(
            ticks: tally.ticks, lateTicks: tally.late, maxMicroseconds: Int(tally.worst),
            timing: tally.isLate(moreThanOneIn: 100) ? .late : isLoose ? .loose : .inTime)
    }
}
