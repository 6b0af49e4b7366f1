internal import ALSASequencer
internal import ClockDispatch
internal import ConfigurationFiles
internal import GatewayStatus
internal import Glibc
internal import MIDIClock
internal import RealTime

/// All outputs: who they are, and where in the board.
///
/// An output keeps its slot as long as it is wanted; one that is not lets its device stop, and its slot is then
/// another's. Owned by the gateway thread.
struct OutputRack: ~Copyable {
    /// By their slots; some may be gone.
    var outputs: [Output] = []
    /// What the user wants.
    var wishes: OutputWishes
    /// The client whose ports carry the clocks; nil where there is no sequencer.
    let sequencer: SequencerOutput?
    /// Why there is no sequencer although one was wanted.
    let sequencerTrouble: ALSAError?
    /// The client that watches ports and makes subscriptions; nil where there is no sequencer.
    let control: SequencerControl?
    /// How many outputs are wanted for which there is no slot: those that the user names, and devices that came.
    var lacking = (named: 0, devices: 0)
    /// The sequencer's ports, when they were last looked at.
    var ports: [Port] = []
    /// The devices that hear the clock more than once.
    var doubledClocks: [DoubledClock] = []
    /// Offsets set in earlier runs, in milliseconds, by the outputs' IDs.
    private let offsets: [String: Replacement<Double>]
    /// IDs of the outputs whose devices a crashed run has left playing.
    private let leftPlaying: Set<String>
    /// Whether such devices hear nothing yet.
    private var holdsBack = true
    private var tenants: UInt32 = 0
    /// Descriptors taken out of use, with the generation of the first board without them.
    var retired: [(slot: Int, descriptor: Int32, generation: UInt64)] = []

    /// Makes the ports that are wanted; devices are connected by ``connectDevices()``.
    ///
    /// - Parameters:
    ///   - wishes: what the user wants.
    ///   - needsSequencer: whether the sequencer is wanted for what comes in, at any rate.
    ///   - offsets: what earlier runs have set, by the outputs' IDs.
    ///   - leftPlaying: the IDs of outputs whose devices a crashed run has left playing.
    init(
        _ wishes: OutputWishes, needsSequencer: Bool, offsets: [String: Replacement<Double>] = [:],
        leftPlaying: Set<String> = []
    ) {
        self.wishes = wishes
        self.leftPlaying = leftPlaying
        self.offsets = offsets
        var trouble: ALSAError?
        var client: SequencerOutput?
        var control: SequencerControl?
        if wishes.needsSequencer || needsSequencer {
            do {
                client = try SequencerOutput(name: "Tactus")
                control = try SequencerControl(name: "Tactus Control")
            } catch {
                trouble = error
            }
        }
        sequencer = client
        self.control = control
        sequencerTrouble = trouble
        addMissing()
        // Later ones are made by the output thread.
        for slot in outputs.indices where outputs[slot].hasPort { try? sequencer?.makePort(slot) }
    }

    deinit {
        for output in outputs { if case .line(let descriptor) = output.sink { close(descriptor) } }
        for line in retired { close(line.descriptor) }
    }

    /// What is wrong with the outputs, but for their connections.
    var warnings: [Status.Warning] {
        let full = Status.Warning(
            code: "too-many-outputs",
            message: "there are more devices than the \(OutputBoard.capacity) outputs there can be",
            fix: "connect the others to the port Clock")
        let contradictions = outputs.filter { $0.presence == .here }.compactMap { output in
            output.mistakes.map { mistakes in
                Status.Warning(
                    code: "overrides", message: "\(output.name) is driven as its profile says: \(mistakes)",
                    fix: "mend the configuration, then 'tactus reload'")
            }
        }
        let oddities = outputs.filter { $0.presence == .here }.flatMap { output in
            (output.profile?.warnings ?? []).map { oddity in
                Status.Warning(
                    code: "profile", message: "\(output.name): \(oddity)",
                    fix: "if it troubles you, copy the profile into your own folder and change it")
            }
        }
        return contradictions + oddities + doubledClocks.map(\.warning) + (lacking == (0, 0) ? [] : [full])
    }

    /// Silences the output whose device leads, if there is one, and lets the others sound.
    ///
    /// - Parameters:
    ///   - leader: where the leader's clock comes from; nil if no machine leads.
    ///   - device: the raw device that is read, if one is.
    mutating func setMaster(_ leader: ClockSource?, device: String?) {
        for index in outputs.indices { outputs[index].setMaster(leader, device: device) }
    }

    /// Changes outputs in place.
    ///
    /// - Parameters:
    ///   - name: of the output; nil for all.
    ///   - body: makes the change.
    /// - Throws: when the name does not mean one output.
    mutating func change(_ name: String?, _ body: (inout Output) -> Void) throws(CommandRefusal) {
        for slot in try slots(of: name) { body(&outputs[slot]) }
    }

    /// Changes settings of outputs, of all that are meant or of none.
    ///
    /// - Parameters:
    ///   - name: of the output; nil for all.
    ///   - change: is refused if it would take an offset out of its range.
    /// - Throws: when the name does not mean one output, or the change is refused.
    mutating func adjust(_ name: String?, _ change: OutputAdjustment) throws(CommandRefusal) {
        let slots = try slots(of: name)
        let room = NudgeRoom(slots.map { (outputs[$0].name, outputs[$0].offset) })
        if let nudge = change.nudge, let refusal = room.refusal(of: nudge) { throw refusal }
        for slot in slots { outputs[slot].adjust(change) }
    }

    /// The slots of the outputs that a command means.
    private func slots(of name: String?) throws(CommandRefusal) -> [Int] {
        let here = outputs.indices.filter { outputs[$0].presence == .here }
        guard let name else { return here }
        do throws(UnclearName) {
            let output = try NameMatch.resolve(name, among: here.map { outputs[$0] })
            return here.filter { outputs[$0].id == output.id }
        } catch {
            throw .unclearName(error)
        }
    }

    /// Has devices that play stop and enter again.
    ///
    /// - Parameters:
    ///   - id: of the output, or its name; nil for all whose devices are there.
    ///   - when: where they enter.
    ///   - isPlaying: whether the song has begun.
    /// - Throws: when no device is realigned for it.
    mutating func realign(_ id: String?, _ when: Realignment, isPlaying: Bool) throws(CommandRefusal) {
        var obstacles: [CommandRefusal] = []
        var isDone = false
        try change(id) { output in
            if let obstacle = output.obstacle(toRealigningWhile: isPlaying) {
                obstacles.append(obstacle)
            } else {
                output.realigning.ask(when)
                isDone = true
            }
        }
        guard !isDone else { return }
        if id != nil, let obstacle = obstacles.first { throw obstacle }
        let others = obstacles.filter { if case .notConnected = $0 { false } else { true } }
        throw others.first ?? .notConnected(nil)
    }

    /// Gives an output a slot; its port is made by the output thread.
    ///
    /// - Returns: whether there was one left.
    mutating func add(_ target: Output.Target, name: String, _ request: OutputRequest) -> Bool {
        let slot = outputs.firstIndex { $0.presence == .gone } ?? outputs.count
        guard slot < OutputBoard.capacity else { return false }
        var source: PortAddress?
        if case .line = target {
        } else if let sequencer {
            source = PortAddress(client: sequencer.client, port: slot)
            sequencer.name(port: slot, name)
        }
        tenants &+= 1
        let ids = outputs.filter { $0.presence != .gone }.map(\.id)
        var output = Output(
            name: name, target: target, request: request, source: source, takenIDs: ids, tenant: tenants)
        if let offset = offsets[output.id] { output.restore(offset) }
        if leftPlaying.contains(output.id) {
            output.holdBack()
            if !holdsBack { output.release() }
        }
        if slot == outputs.count { outputs.append(output) } else { outputs[slot] = output }
        return true
    }

    /// Treats devices that a crashed run has left playing like those that come back, from now on.
    mutating func release() {
        holdsBack = false
        for slot in outputs.indices { outputs[slot].release() }
    }

    /// Has an output's device stopped, and then its slot freed.
    mutating func remove(_ slot: Int) { outputs[slot].presence = .leaving(since: .now()) }

    /// Whether an output's device is being stopped, or its slot is not free yet.
    var isSomeoneLeaving: Bool { outputs.contains(where: \.isLeaving) }

    /// Takes out of use the outputs whose devices have been stopped, and frees the slots that nobody uses any more.
    ///
    /// A slot is another's only once the output thread has deleted its port: what that is called is written where the
    /// thread reads it, and who is subscribed to it must not hear the next one.
    ///
    /// - Parameters:
    ///   - existingPorts: the output ports there are, one bit each.
    ///   - generations: the board in use by the output thread, and the one published last.
    ///   - now: the present time.
    /// - Returns: whether an output has gone a step.
    mutating func freeSlots(
        existingPorts: UInt64, generations: (inUse: UInt64, published: UInt64), at now: MonotonicTime = .now()
    ) -> Bool {
        var changed = false
        for slot in outputs.indices {
            switch outputs[slot].presence {
            case .leaving(let since) where now >= since.advanced(byNanoseconds: Self.farewell):
                takeOut(slot, before: generations.published + 1)
            case .closing(let generation)
            where generation <= generations.inUse && existingPorts >> UInt64(slot) & 1 == 0:
                outputs[slot].presence = .gone
            default: continue
            }
            changed = true
        }
        return changed
    }

    private mutating func takeOut(_ slot: Int, before generation: UInt64) {
        if case .line(let descriptor) = outputs[slot].sink { retired.append((slot, descriptor, generation)) }
        if let device = outputs[slot].subscribed, let source = outputs[slot].source {
            control?.unsubscribe(device, from: source)
        }
        outputs[slot].sink = .away
        outputs[slot].presence = .closing(generation: generation)
    }

    /// How long it takes at most until the Stop of an output that is leaving has left, in nanoseconds.
    private static let farewell: Int64 = 200_000_000
}
