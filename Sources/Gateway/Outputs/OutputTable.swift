internal import ALSASequencer
internal import BeatTime
internal import ClockDispatch
internal import ConfigurationFiles
internal import GatewayStatus
internal import MIDIClock

/// All outputs: who they are, and where in the board.
///
/// An output keeps its slot as long as it is wanted; one that is not lets its device stop, and its slot is then
/// another's.
struct OutputTable: Sendable {
    /// By their slots; some may be gone.
    var all: [Output] = []
    /// What the user wants.
    var configuration: OutputConfiguration
    /// The number of the client whose ports carry the clocks; nil where there is no sequencer.
    let client: Int?
    /// How many outputs are wanted for which there is no slot: those that the user names, and devices that came.
    var withoutSlot = (named: 0, devices: 0)
    /// The devices that hear the clock more than once.
    var doubledClocks: [DoubledClock] = []
    /// Descriptors to close once the clock thread has let go of them, with the first board without them.
    var retired: [(slot: Int, descriptor: Int32, generation: UInt64)] = []
    /// When drivers are looked at.
    var watch = DeviceWatch()
    /// When lines that are away are tried again; nil as long as none has been tried.
    var lineCheck: HostTime?
    /// What ports that do not exist yet are to be called.
    private var portNames: [(port: Int, name: String)] = []
    /// Offsets set in this run and earlier ones, in milliseconds, by the outputs' IDs, for outputs that come back.
    private(set) var offsets: [String: Replacement<Double>]
    /// IDs of the outputs whose devices have been started and have taken no Stop since, in this run or a crashed one.
    var leftPlaying: Set<String>
    /// Whether such devices hear nothing yet: those of a crashed run, until it is known what they should do.
    private var holdsBack: Bool
    private var occupants: UInt32 = 0
    private var markSeed: UInt64

    /// Makes the outputs that are wanted; devices are connected by ``connect(_:own:_:)``.
    ///
    /// - Parameters:
    ///   - configuration: what the user wants.
    ///   - client: the number of the client whose ports carry the clocks; nil where there is no sequencer.
    ///   - offsets: what earlier runs have set, by the outputs' IDs.
    ///   - leftPlaying: the IDs of outputs whose devices a crashed run has left playing.
    ///   - seed: decides how marked ticks move.
    init(
        _ configuration: OutputConfiguration, client: Int? = nil, offsets: [String: Replacement<Double>] = [:],
        leftPlaying: [String] = [], seed: UInt64 = 0
    ) {
        self.configuration = configuration
        self.client = client
        self.leftPlaying = Set(leftPlaying)
        holdsBack = !leftPlaying.isEmpty
        self.offsets = offsets
        markSeed = seed
        addMissing()
    }

    /// What ports that do not exist yet are to be called; each is told once, before a board wants the port.
    mutating func takePortNames() -> [(port: Int, name: String)] {
        defer { portNames = [] }
        return portNames
    }

    /// What is wrong with the outputs, but for their connections.
    var warnings: [Status.Warning] {
        let full = Status.Warning(
            code: "too-many-outputs",
            message: "there are more devices than the \(OutputBoard.capacity) outputs there can be",
            fix: "connect the others to the port Clock")
        let contradictions = all.filter { $0.presence == .here }.compactMap { output in
            output.mistakes.map { mistakes in
                Status.Warning(
                    code: "overrides", message: "\(output.name) is driven as its profile says: \(mistakes)",
                    fix: "mend the configuration, then 'tactus reload'")
            }
        }
        let profileWarnings = all.filter { $0.presence == .here }.flatMap { output in
            (output.profile?.warnings ?? []).map { warning in
                Status.Warning(
                    code: "profile", message: "\(output.name): \(warning)",
                    fix: "if it troubles you, copy the profile into your own folder and change it")
            }
        }
        return contradictions + profileWarnings + doubledClocks.map(\.warning) + (withoutSlot == (0, 0) ? [] : [full])
    }

    /// Silences the output whose device leads, if there is one, and lets the others sound.
    ///
    /// - Parameters:
    ///   - leader: where the leader's clock comes from; nil if no machine leads.
    ///   - device: the raw device that is read, if one is.
    mutating func setLeader(_ leader: ClockSource?, device: String?) {
        for slot in all.indices {
            let leads = all[slot].isDriving(leader, device: device)
            if leads != all[slot].isLeader { all[slot].setLeader(leads) }
        }
    }

    /// Changes settings of outputs, of all that are meant or of none.
    ///
    /// - Parameters:
    ///   - name: of the output; nil for all.
    ///   - change: is refused if it would take an offset out of its range.
    ///   - line: the ticks there are, if they are to be marked.
    ///   - now: the present time.
    /// - Throws: when the name does not mean one output, or the change is refused.
    mutating func adjust(
        _ name: String?, _ change: OutputAdjustment, marking line: TickLine, at now: HostTime
    ) throws(CommandError) {
        let slots = try slots(of: name)
        let room = NudgeRoom(slots.map { (all[$0].name, all[$0].offset) })
        if let nudge = change.nudge, let refusal = room.refusal(of: nudge) { throw refusal }
        for slot in slots {
            all[slot].adjust(change)
            guard let seconds = change.markSeconds else { continue }
            markSeed &+= 0x9E37_79B9_7F4A_7C15
            all[slot].markTicks(seconds: seconds, on: line, seed: markSeed, at: now)
        }
    }

    /// Brings ``offsets`` up to date with the outputs there are; those of others stay as they are, as many as may.
    mutating func keepOffsets() {
        let here = all.filter { $0.presence == .here }
        for output in here { offsets[output.id] = output.liveOffset }
        guard offsets.count > KeptState.mostOffsets else { return }
        let ids = Set(here.map(\.id))
        offsets = offsets.filter { ids.contains($0.key) }
    }

    /// The slots of the outputs that a command means.
    private func slots(of name: String?) throws(CommandError) -> [Int] {
        let here = all.indices.filter { all[$0].presence == .here }
        guard let name else { return here }
        do throws(UnclearName) {
            let output = try NameMatch.resolve(name, among: here.map { all[$0] })
            return here.filter { all[$0].id == output.id }
        } catch {
            throw .unclearName(error)
        }
    }

    /// Has devices that play stop and enter again.
    ///
    /// - Parameters:
    ///   - name: of the output; nil for all whose devices are there.
    ///   - when: where they enter.
    ///   - isPlaying: whether the song has begun.
    /// - Throws: when no device is realigned for it.
    mutating func realign(_ name: String?, _ when: Realignment, isPlaying: Bool) throws(CommandError) {
        let slots = try slots(of: name)
        let obstacles = slots.map { all[$0].obstacle(toRealigningWhile: isPlaying) }
        for (slot, obstacle) in zip(slots, obstacles) where obstacle == nil { all[slot].realigning.ask(when) }
        guard !obstacles.contains(where: { $0 == nil }) else { return }
        let reasons = obstacles.compactMap(\.self)
        if name != nil, let reason = reasons.first { throw reason }
        let others = reasons.filter { if case .notConnected = $0 { false } else { true } }
        throw others.first ?? .notConnected(nil)
    }

    /// Gives an output a slot; its port is made by the clock thread.
    ///
    /// - Returns: whether there was one left.
    mutating func add(_ target: Output.Target, name: String, _ request: OutputRequest) -> Bool {
        let slot = all.firstIndex { $0.presence == .gone } ?? all.count
        guard slot < OutputBoard.capacity else { return false }
        var source: PortAddress?
        if case .line = target {
            lineCheck = nil
        } else if let client {
            source = PortAddress(client: client, port: slot)
            portNames.append((slot, name))
        }
        occupants &+= 1
        let ids = all.filter { $0.presence != .gone }.map(\.id)
        var output = Output(
            name: name, target: target, request: request, source: source, takenIDs: ids, occupant: occupants)
        if let offset = offsets[output.id] { output.restore(offset) }
        // Nor may one whose output is just leaving have taken its Stop; this one's ID is another then.
        let isLeftPlaying = all.contains { $0.isLeaving && $0.target == target && leftPlaying.contains($0.id) }
        if isLeftPlaying || leftPlaying.contains(output.id) {
            output.holdBack()
            if !holdsBack { output.release() }
        }
        if slot == all.count { all.append(output) } else { all[slot] = output }
        return true
    }

    /// Treats devices that a crashed run has left playing like those that come back, from now on.
    mutating func release() {
        holdsBack = false
        for slot in all.indices { all[slot].release() }
    }

    /// Has an output's device stopped, and then its slot freed.
    mutating func remove(_ slot: Int) { all[slot].presence = .leaving(generation: nil, since: nil) }

    /// Whether an output's device is being stopped, or its slot is not free yet.
    var isSomeoneLeaving: Bool { all.contains(where: \.isLeaving) }

    /// Takes out of use the outputs whose devices have been stopped, and frees the slots that nobody uses any more.
    ///
    /// A slot is another's only once the clock thread has deleted its port: what that is called is written where the
    /// thread reads it, and who is subscribed to it must not hear the next one.
    ///
    /// - Parameters:
    ///   - account: what the clock thread has come to.
    ///   - published: the generation of the board published last.
    ///   - patchbay: loses the subscriptions of those taken out.
    ///   - effects: receives what is to be done for it.
    ///   - now: the present time.
    /// - Returns: whether an output has gone a step.
    mutating func freeSlots(
        _ account: ClockAccount, _ published: UInt64, _ patchbay: inout Patchbay, _ effects: inout GatewayEffects,
        at now: HostTime
    ) -> Bool {
        var changed = false
        for slot in all.indices {
            switch all[slot].presence {
            case .leaving(let known, nil):
                // Until that board is in use nobody stops the device.
                let generation = known ?? published
                let since = account.isInUse(generation) ? now : nil
                all[slot].presence = .leaving(generation: generation, since: since)
                continue
            case .leaving(_, let since?)
            where since.microseconds(to: now) >= (mayTakeStop(slot, account) ? Self.longestStopGrace : Self.stopGrace):
                if case .line(let descriptor) = all[slot].sink { retired.append((slot, descriptor, published + 1)) }
                let source = all[slot].source
                patchbay.unsubscribe(except: [], where: { $0.sender == source }, &effects)
                all[slot].sink = .away
                all[slot].presence = .closing(generation: published + 1)
            case .closing(let generation)
            where account.isInUse(generation) && !account.hasPort(slot):
                all[slot].presence = .gone
                // The list may be older than the account.
                if let source = all[slot].source { patchbay.forget(source) }
            default: continue
            }
            changed = true
        }
        return changed
    }

    /// Whether an output's device is there and has not taken its Stop yet.
    private func mayTakeStop(_ slot: Int, _ account: ClockAccount) -> Bool {
        account.mayPlay(slot) && all[slot].connectedTo != nil && all[slot].boardSink.hasReceiver
    }

    /// How long a Stop may take on its way once the clock thread has the board without the output, in microseconds.
    private static let stopGrace: Int64 = 200_000
    /// How long a device is offered its Stop again that has refused it, in microseconds.
    private static let longestStopGrace: Int64 = 1_000_000
}
