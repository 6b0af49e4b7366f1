internal import ALSASequencer
internal import Arbiter
internal import BeatTime
internal import ClockDispatch
internal import ConfigurationFiles
internal import GatewayStatus
internal import Glibc
internal import LinkNetwork
internal import LinkSession
internal import MIDIClock
internal import TimeCode
internal import RealTime
internal import Synchronization

/// The engine's part of the status; values that change with time are computed on request.
struct StatusPicture: Sendable {
    let configuration: LiveConfiguration
    let link: LinkState
    let leadership: Leadership
    /// Whose clock the user wants followed.
    let follow: FollowChoice
    let list: PortList
    /// Warnings about incoming clocks.
    let inputWarnings: [Status.Warning]
    private let table: OutputTable
    private let controls: ControlTable
    /// The session's tempo if it is outside the fence.
    private let tempoOutside: Tempo?
    /// What outputs fold tempos into.
    private let fold: TempoRange?
    /// What an undo would do; nil if there is nothing to undo.
    let undo: String?
    /// What the last tap said, and when.
    private let tapped: (reading: TapTempo.Reading, at: HostTime)?

    init(_ engine: GatewayEngine) {
        configuration = engine.configuration
        link = engine.link
        leadership = engine.arbiter.leadership
        follow = engine.inputs.sources.choice
        list = engine.patchbay.list
        inputWarnings = engine.inputs.warnings(engine.arbiter, engine.outputs.all)
        table = engine.outputs
        controls = engine.controls
        (tempoOutside, fold) = (engine.arbiter.tempoOutside, engine.arbiter.folding)
        undo = engine.undoText
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
    ///   - machine: what the machine allows.
    /// - Returns: the status.
    func status(at now: HostTime, counters: OutputThread, on machine: Machine) -> Status {
        let (timeline, quantum, transport) = (leadership.timeline, leadership.quantum, leadership.transport)
        let ahead = Double(transport.startTick) - leadership.line.position(at: now)
        let isPending = transport.isPlaying && ahead > 0
        return Status(
            version: Status.version, pid: Int(getpid()), mode: leadership.mode, reason: leadership.reason,
            tempo: timeline.tempo.beatsPerMinute, beat: timeline.shownBeats(at: now, quantum: quantum).value,
            phase: timeline.phase(at: now, quantum: quantum).value, quantum: quantum.value,
            playing: transport.isPlaying,
            transport: isPending ? .pending : transport.isPlaying ? .playing : .stopped,
            startsInBeats: isPending ? ahead / Double(TickLine.ticksPerBeat) : nil, link: linkStatus,
            follower: followerStatus,
            outputs: slots.map { outputStatus(slot: $0, counters, at: now) },
            realtime: .init(
                scheduling: machine.realTime.scheduling.name, priority: Int(machine.realTime.scheduling.priority),
                memoryLocked: machine.isProcessLocked || counters.isMemoryLocked, dispatch: counters.mode.name,
                wakeUpLatencyMicroseconds: Status.Lateness(counters.wakeUps)),
            warnings: machine.warnings + warnings + configuration.warnings + table.warnings + inputWarnings
                + controls.warnings + dispatchWarning(counters, machine)
                + slots.compactMap { syncWarning(slot: $0, counters) }
                + slots.compactMap { droppedWarning(slot: $0, counters) }, undo: undo, taps: taps(at: now))
    }

    /// How many taps agree; nil once the next one would begin anew.
    private func taps(at now: HostTime) -> Status.Taps? {
        guard let tapped, tapped.at.microseconds(to: now) <= TapTempo.longest else { return nil }
        return Status.Taps(counted: tapped.reading.counted, wanted: tapped.reading.wanted)
    }

    /// Slots of the outputs that are wanted.
    private var slots: [Int] { outputs.indices.filter { outputs[$0].presence == .here } }

    /// A tempo as people read it.
    private static func rounded(_ tempo: Double) -> String {
        let text = "\((tempo * 100).rounded() / 100)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private func dispatchWarning(_ thread: OutputThread, _ machine: Machine) -> [Status.Warning] {
        guard thread.lacksQueue(scheduling: machine.realTime.scheduling) else { return [] }
        let message = "ticks leave by direct dispatch and may be late under load: "
        guard let failure = thread.queueFailure else {
            let fix =
                machine.sequencerTrouble.map { "\($0.openingFix), then restart Tactus" }
                ?? "only sequencer ports have a queue; leave --dispatch out for raw outputs"
            return [.init(code: "dispatch", message: message + "there is no sequencer and so no queue", fix: fix)]
        }
        return [
            .init(
                code: "dispatch", message: message + "the sequencer's queue cannot be used; \(failure)",
                fix: "'tactus doctor' tells what helps")
        ]
    }

    private var linkStatus: Status.Link {
        .init(
            enabled: link.isEnabled, active: link.isNetworking, connected: link.peerCount > 0, peers: link.peerCount,
            sessionId: link.isNetworking ? "\(link.sessionID)" : nil, startStopSync: link.isStartStopSyncEnabled,
            interfaces: link.interfaces, measurementErrorMicroseconds: link.measurementErrorMicroseconds,
            lastChange: link.changes.last.map(Status.Change.init))
    }

    private var followerStatus: Status.Follower {
        var follower = leadership.follower
        follower.choice = follow.text
        return follower
    }

    private func outputStatus(slot: Int, _ counters: OutputThread, at now: HostTime) -> Status.Output {
        let output = outputs[slot]
        let (settings, tempo) = (output.settings, 60e6 / Double(leadership.line.microsecondsPerBeat))
        let tempos = output.tempos(foldedInto: fold)
        let hasClock =
            output.connectedTo != nil && output.isEnabled && output.boardSink != .away
            && (settings.isClockAlwaysOn || leadership.transport.isPlaying)
        return counters.withCounters(of: slot) { count in
            Status.Output(
                id: output.id, name: output.name, profile: output.profile?.id,
                port: output.connectedTo ?? output.ownPort,
                connected: output.connectedTo != nil, enabled: output.isEnabled,
                ticks: count.ticks.load(ordering: .relaxed),
                lateTicks: count.lateTicks.load(ordering: .relaxed),
                skippedTicks: count.skippedTicks.load(ordering: .relaxed),
                offsetMilliseconds: output.offset,
                multiply: Int(settings.multiply), divide: Int(settings.divide),
                swing: Double(settings.swing) / 10,
                range: tempos == .all ? nil : [tempos.lowest, tempos.highest].map { Double($0) / 1_000 },
                sentTempo: hasClock && output.isClock ? (tempo * count.pulsesPerTick * 100).rounded() / 100 : nil,
                latenessMicroseconds: output.isAway ? nil : Status.Lateness(count.lateness),
                lastMinute: output.isAway ? nil : Status.Punctuality(count.lastMinute(at: now)),
                timeCode: output.timeCode?.rate.name)
        }
    }

    /// A warning if the present device of an output has not accepted what it was sent.
    private func syncWarning(slot: Int, _ counters: OutputThread) -> Status.Warning? {
        let output = outputs[slot]
        let syncState = counters.withCounters(of: slot) {
            TickPlanner.SyncState(rawValue: $0.syncState.load(ordering: .relaxed)) ?? .inSync
        }
        guard output.connectedTo != nil, output.sink.hasReceiver else { return nil }
        let isPlaying = leadership.transport.isPlaying
        switch syncState {
        case .inSync: return nil
        case .outOfSync:
            return .init(
                code: "out-of-step",
                message: "\(output.name) has not received all messages, so it may "
                    + (isPlaying ? "play at the wrong place, or stand still" : "still be playing"),
                fix: "check that the device or program behind it accepts MIDI; Tactus then stops it"
                    + (isPlaying ? ", and it rejoins at the next bar" : ""),
                output: output.id)
        case .someOutOfSync:
            return .init(
                code: "out-of-step",
                message: "a device or program connected to \(output.name) has not received all messages, so it may "
                    + (isPlaying ? "play at the wrong place, or stand still" : "still be playing"),
                fix: isPlaying
                    ? "check that it accepts MIDI, then 'tactus realign \(output.id)' realigns all of them"
                    : "check that it accepts MIDI; Tactus then sends Stop to all of them",
                output: output.id)
        }
    }

    private func droppedWarning(slot: Int, _ counters: OutputThread) -> Status.Warning? {
        let dropped = counters.withCounters(of: slot) { $0.dropped.load(ordering: .relaxed) }
        guard dropped > 0 else { return nil }
        return .init(
            code: "dropped", message: "\(dropped) messages to output \(outputs[slot].name) were lost",
            fix: "check that the device or program behind it accepts MIDI, and that a serial line has the right speed",
            output: outputs[slot].id)
    }

    /// Error of the session's clock that can be heard, in microseconds.
    private static let audibleError = 5_000.0

    private var warnings: [Status.Warning] {
        var warnings: [Status.Warning] = []
        for failure in link.failures {
            warnings.append(
                .init(
                    code: "link-interface", message: "Link cannot use a network interface: \(failure)",
                    fix:
                        "Tactus tries again every few seconds; 'tactus doctor' says what keeps it, and --interface chooses the "
                        + "networks to use"))
        }
        if let excess = link.excess { warnings.append(excess) }
        if let unreachable = link.unreachable { warnings.append(unreachable.warning) }
        if let fence = configuration.fence, let tempoOutside {
            let outputs =
                fence.outside == .fold
                ? "outputs halve or double it"
                : "outputs hold \(Self.rounded(60e6 / Double(leadership.line.microsecondsPerBeat))) BPM"
            let bounds =
                "\(Self.rounded(Double(fence.lowest) / 1_000)) to \(Self.rounded(Double(fence.highest) / 1_000))"
            warnings.append(
                .init(
                    code: "tempo-fence",
                    message:
                        "the session plays at \(Self.rounded(tempoOutside.beatsPerMinute)) BPM, which is not within "
                        + "\(bounds); \(outputs)",
                    fix: "bring the session's tempo back inside, or widen --session-tempo"))
        }
        if let address = link.crowdingAddress {
            warnings.append(
                .init(
                    code: "link-strangers",
                    message:
                        "more Link peers are announced than can be real, most of them from \(address); Tactus forgets "
                        + "some of them to make room for real ones",
                    fix: "find the program or machine that does it and stop it, or leave its network out by --interface"
                ))
        }
        if let address = link.extremeNumbersAddress {
            warnings.append(
                .init(
                    code: "link-numbers",
                    message:
                        "a Link peer at \(address) announces beats or times that no program comes to by itself; tempo, "
                        + "beat, play or stop of the session may not change any more",
                    fix:
                        "end all Link programs of the session at once, and find the program or machine that does it, or "
                        + "leave its network out by --interface"))
        }
        if let error = link.measurementErrorMicroseconds, error > Self.audibleError {
            warnings.append(
                .init(
                    code: "link-clock",
                    message:
                        "messages to Link peers take so long that the beat is known to \(Self.rounded(error / 1_000)) ms "
                        + "only",
                    fix: "connect by cable, or go nearer to the access point"))
        }
        for output in slots.map({ outputs[$0] }) where output.connectedTo == nil {
            if let trouble = output.trouble {
                warnings.append(
                    .init(
                        code: "output-away", message: "output \(output.name) is away: \(trouble.reason)",
                        fix: trouble.fix, output: output.id))
            } else if output.hasLostDevice, output.isEnabled {
                warnings.append(output.lossWarning(isPlaying: leadership.transport.isPlaying))
            }
        }
        for output in slots.map({ outputs[$0] }) where output.isStuck {
            warnings.append(
                .init(
                    code: "device-stuck",
                    message: "the device at output \(output.name) is connected but no longer accepts messages",
                    fix: "switch it off and on, or plug it in again; it then rejoins the song by itself",
                    output: output.id))
        }
        return warnings
    }
}

extension StatusPicture.Machine {
    fileprivate var warnings: [Status.Warning] {
        var warnings: [Status.Warning] = []
        if let sequencerTrouble {
            warnings.append(
                .init(
                    code: "no-sequencer",
                    message: (sequencerTrouble.isForbidden
                        ? "this user may not use the ALSA sequencer" : "there is no ALSA sequencer")
                        + ", so only raw outputs work (\(sequencerTrouble))",
                    fix: "\(sequencerTrouble.openingFix), then restart Tactus"))
        }
        if let warning = realTime.warning { warnings.append(warning) }
        return warnings
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
    fileprivate var isAway: Bool { sink == .away || lacksDevice }

    /// Our own port, for an output that waits for subscribers.
    fileprivate var ownPort: String? { takesSubscribers ? source?.description : nil }

    /// A warning that its device was removed, and what happens when it returns.
    func lossWarning(isPlaying: Bool) -> Status.Warning {
        let promise =
            isPlaying && settings.takesTransport
            ? "It rejoins at the next bar when it is back."
            : isPlaying || settings.isClockAlwaysOn
                ? "It hears the clock again when it is back." : "It plays with the next song when it is back."
        return .init(
            code: "output-away", message: "\(name) \(isMachine ? "was unplugged" : "has gone"). \(promise)",
            fix: isMachine ? "plug it in again, and switch it on" : "start it again", output: id)
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
