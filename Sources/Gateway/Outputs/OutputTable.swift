internal import ALSASequencer
internal import BeatTime
internal import ClockDispatch
internal import ConfigurationFiles
internal import MIDIClock

/// All outputs and their slots on the board.
///
/// An output keeps its slot while it is wanted. When it is removed, its device is stopped first; then the slot is free
/// for another output.
struct OutputTable: Sendable {
    /// The outputs by slot; some may be gone.
    var all: [Output] = []
    /// What the user wants.
    var configuration: OutputConfiguration
    /// Number of the client whose ports carry the clocks; nil without a sequencer.
    let client: Int?
    /// Wanted outputs without a free slot: those that the user named, and recognized devices.
    var withoutSlot = (named: 0, devices: 0)
    /// Devices that get the clock more than once.
    var doubledClocks: [DoubledClock] = []
    /// Descriptors to close once the output thread uses the first board without them.
    var retired: [(slot: Int, descriptor: Int32, generation: UInt64)] = []
    /// When to check drivers.
    var watch = DeviceWatch()
    /// When to try absent lines again; nil if none has been tried.
    var lineCheck: HostTime?
    /// How far ahead sound cards are written, in microseconds.
    var cardsAhead: Int64 = 0
    /// Names for ports that do not exist yet.
    private var portsToMake: [(port: Int, name: String)] = []
    /// What was set at outputs in this and earlier runs, by output ID, for those that return.
    private(set) var kept: [String: KeptOutput]
    /// IDs of the outputs whose devices have been started and have taken no Stop since, in this run or a crashed one.
    var leftPlaying: Set<String>
    /// Those of them that a crashed run had started.
    private let crashed: Set<String>
    /// Whether such devices hear nothing yet: those of a crashed run, until it is known what they should do.
    private var holdsBack: Bool
    /// Ports and paths of devices whose outputs are gone, and which had taken no Stop from them.
    private var unstopped: Set<String> = []
    private var occupants: UInt32 = 0
    private var markSeed: UInt64

    /// Creates the wanted outputs; ``connect(_:own:_:)`` connects devices.
    ///
    /// - Parameters:
    ///   - configuration: what the user wants.
    ///   - client: number of the client whose ports carry the clocks; nil without a sequencer.
    ///   - kept: what earlier runs saved, by output ID.
    ///   - leftPlaying: IDs of the outputs whose devices a crashed run left playing.
    ///   - seed: decides how marked ticks move.
    init(
        _ configuration: OutputConfiguration, client: Int? = nil, kept: [String: KeptOutput] = [:],
        leftPlaying: [String] = [], seed: UInt64 = 0
    ) {
        self.configuration = configuration
        self.client = client
        self.leftPlaying = Set(leftPlaying)
        crashed = self.leftPlaying
        holdsBack = !leftPlaying.isEmpty
        self.kept = kept
        markSeed = seed
        addMissing()
    }

    /// The ports to create before a board mentions them; each is returned once.
    mutating func takePortsToMake() -> [(port: Int, name: String)] {
        defer { portsToMake = [] }
        return portsToMake
    }

    /// What there is to tell about the outputs, except for their connections.
    var notices: [Notice] {
        let here = all.filter { $0.presence == .here }
        let contradictions = here.compactMap { output in
            output.mistakes.map { Notice.contradiction(output.subject, $0) }
        }
        let profiles = here.flatMap { output in
            (output.profile?.warnings ?? []).map { Notice.profileOfOutput(output.subject, $0) }
        }
        let shared = here.filter { !$0.isClock }.compactMap { output in
            output.connectedTo.flatMap { place in here.first { $0.isClock && $0.connectedTo == place } }
                .map { Notice.timeCodeBesideClock(output.subject, clock: $0.name) }
        }
        return contradictions + profiles + shared + doubledClocks.map(Notice.doubledClock)
            + (withoutSlot == (0, 0) ? [] : [.tooManyOutputs])
    }

    /// Sends no clock to the device that leads, and the clock to all others.
    ///
    /// - Parameters:
    ///   - leader: the source of the leader's clock; nil if no machine leads.
    ///   - device: the raw device that is read, if any.
    mutating func setLeader(_ leader: ClockSource?, device: String?) {
        for slot in all.indices {
            let leads = all[slot].isDriving(leader, device: device)
            if leads != all[slot].isLeader { all[slot].setLeader(leads) }
        }
    }

    /// Changes settings of one output or of all; either all change or none does.
    ///
    /// - Parameters:
    ///   - name: of the output or a group; nil for all.
    ///   - change: refused if it would move an offset out of its range, or if the named output has no such setting.
    ///   - line: where ticks fall, for marking them.
    ///   - now: the present time.
    /// - Throws: when the name matches neither a group nor exactly one output, or the change is refused.
    mutating func adjust(
        _ name: String?, _ change: OutputAdjustment, marking line: TickLine, at now: HostTime
    ) throws(CommandError) {
        let (slots, isOne) = try meant(by: name)
        let room = NudgeRoom(slots.map { (all[$0].name, all[$0].offset) })
        if let nudge = change.nudge, let refusal = room.refusal(of: nudge) { throw refusal }
        if isOne, change.isOfClock, let output = slots.map({ all[$0] }).first(where: { !$0.isClock }) {
            throw .outOfRange(
                "\(output.name) sends time code, so it has no multiply, divide, swing, tempo range or marks",
                possible: "its offset and whether it sends can be changed")
        }
        for slot in slots {
            all[slot].adjust(change)
            guard let seconds = change.markSeconds else { continue }
            markSeed &+= 0x9E37_79B9_7F4A_7C15
            all[slot].markTicks(seconds: seconds, on: line, seed: markSeed, at: now)
        }
    }

    /// The live changes of one output, of a group, or of all, to restore them later; none if the name is unclear.
    func liveChanges(of name: String?) -> [LiveChanges] {
        ((try? meant(by: name).slots) ?? []).map { slot in
            let output = all[slot]
            return LiveChanges(
                occupant: output.occupant, name: output.name, kept: output.live.kept, muted: output.muted,
                offset: output.offset)
        }
    }

    /// The present live changes of the outputs that still are those of an earlier time.
    func liveChanges(ofSame outputs: [LiveChanges]) -> [LiveChanges] {
        let occupants = Set(outputs.map(\.occupant))
        return liveChanges(of: nil).filter { occupants.contains($0.occupant) }
    }

    /// The live changes of an earlier time whose outputs are still the same.
    func stillHere(_ outputs: [LiveChanges]) -> [LiveChanges] {
        let occupants = Set(all.filter { $0.presence == .here }.map(\.occupant))
        return outputs.filter { occupants.contains($0.occupant) }
    }

    /// Restores live changes of an earlier time, where the output is still the same.
    ///
    /// - Parameters:
    ///   - outputs: their changes.
    ///   - settings: the names of what is restored; only for `mute` devices are stopped or let in.
    ///   - song: where the song is.
    mutating func restore(_ outputs: [LiveChanges], _ settings: [String], in song: SongPlace) {
        for slot in all.indices where all[slot].presence == .here {
            guard let before = outputs.first(where: { $0.occupant == all[slot].occupant }) else { continue }
            all[slot].restore(before)
            guard settings.contains("mute"), before.muted != all[slot].muted else { continue }
            all[slot].restore(before.muted, in: song)
        }
    }

    /// An output's settings as changed while it runs.
    struct LiveChanges: Hashable, Sendable {
        var occupant: UInt32
        var name: String
        var kept: KeptOutput
        var muted: Muted
        /// The resulting offset, in microseconds.
        var offset: Int64
    }

    /// Updates ``kept`` from the present outputs; what is saved of others stays, up to the limit.
    mutating func keepSettings() {
        let here = all.filter { $0.presence == .here }
        for output in here { kept[output.id] = output.live.kept == KeptOutput() ? nil : output.live.kept }
        guard kept.count > KeptState.mostOutputs else { return }
        let ids = Set(here.map(\.id))
        kept = kept.filter { ids.contains($0.key) }
    }

    /// The outputs that a command means.
    ///
    /// - Parameter name: of a group or an output; nil for all.
    /// - Returns: their slots, and whether one output was named.
    /// - Throws: when the name matches neither a group nor exactly one output.
    private func meant(by name: String?) throws(CommandError) -> (slots: [Int], isOne: Bool) {
        let here = all.indices.filter { all[$0].presence == .here }
        guard let name else { return (here, false) }
        do throws(UnclearName) {
            let (outputs, isOne) = try here.map { all[$0] }.meant(by: name)
            let ids = Set(outputs.map(\.id))
            return (here.filter { ids.contains(all[$0].id) }, isOne)
        } catch {
            throw .unclearName(error)
        }
    }

    /// Stops playing devices and lets them enter again.
    ///
    /// - Parameters:
    ///   - name: of the output or a group; nil for all with a connected device.
    ///   - when: where they enter.
    ///   - isPlaying: whether the song has begun.
    /// - Throws: when no device can be realigned.
    mutating func realign(_ name: String?, _ when: Realignment, isPlaying: Bool) throws(CommandError) {
        let (slots, isOne) = try meant(by: name)
        let obstacles = slots.map { all[$0].obstacle(toRealigningWhile: isPlaying) }
        for (slot, obstacle) in zip(slots, obstacles) where obstacle == nil { all[slot].realigning.ask(when) }
        guard !obstacles.contains(where: { $0 == nil }) else { return }
        let reasons = obstacles.compactMap(\.self)
        if isOne, let reason = reasons.first { throw reason }
        let others = reasons.filter { if case .notConnected = $0 { false } else { true } }
        throw others.first ?? .notConnected(nil)
    }

    /// Has devices stopped, or enter, at a bar.
    ///
    /// - Parameters:
    ///   - name: of the output or a group; nil for all whose devices can be stopped.
    ///   - muting: what is asked.
    ///   - song: where the song is.
    /// - Throws: when the name matches neither a group nor exactly one output, or its device cannot be stopped.
    mutating func mute(_ name: String?, _ muting: Muting, in song: SongPlace) throws(CommandError) {
        let (meant, isOne) = try meant(by: name)
        // One that was muted before its profile changed can still be let in.
        let slots = meant.filter { all[$0].canBeMuted || all[$0].muted.isMuted }
        if isOne, let other = meant.first(where: { !slots.contains($0) }) { throw .notMutable(all[other].name) }
        let areMuted = slots.allSatisfy { all[$0].muted.isMuted }
        let asked = muting != .toggle ? muting : areMuted ? .off(afterBars: 0) : .on
        for slot in slots { all[slot].mute(asked, in: song) }
    }

    /// Holds devices off the tempo, or lets them go; a session does not hear of it.
    ///
    /// - Parameters:
    ///   - name: of the output or a group; nil for all that send a clock.
    ///   - percent: how much faster, limited by ``CommandRange/bend``; 0 lets go.
    ///   - time: for how long, in microseconds, unless the command comes again.
    ///   - holder: who does so.
    ///   - now: the present time.
    /// - Returns: whether any runs otherwise than before.
    /// - Throws: when the name matches nothing, or an output without a clock.
    mutating func bend(
        _ name: String?, _ percent: Double, for time: Int64, by holder: BendHolder, at now: HostTime
    ) throws(CommandError) -> Bool {
        let (meant, isOne) = try meant(by: name)
        let slots = meant.filter { all[$0].isClock }
        if isOne, slots.isEmpty, let other = meant.first {
            throw .outOfRange(
                "\(all[other].name) sends time code, which cannot be bent", possible: "outputs with a clock can")
        }
        return slots.reduce(false) { all[$1].bending.hold(percent, for: time, by: holder, at: now) || $0 }
    }

    /// Lets devices go whose time is over.
    ///
    /// - Returns: whether any runs otherwise than before.
    mutating func endBends(at now: HostTime) -> Bool {
        all.indices.reduce(false) { all[$1].bending.endIfOver(at: now) || $0 }
    }

    /// Notes that the song has ended, has moved, or another one plays.
    ///
    /// - Parameters:
    ///   - song: the present one.
    ///   - before: the one before.
    ///   - wasPending: whether that had not begun yet.
    /// - Returns: whether it is still the same song.
    mutating func songMoved(_ song: PlannedTransport, from before: PlannedTransport, wasPending: Bool) -> Bool {
        let isNear = (song.startTick &- before.startTick).magnitude < song.ticksPerBar.magnitude
        let isSame = song.isPlaying && (wasPending || isNear)
        for slot in all.indices { all[slot].songMoved(isSame: isSame) }
        return isSame
    }

    /// Gives an output a slot, and a port where there is a sequencer.
    ///
    /// - Returns: whether there was a free slot.
    mutating func add(_ destination: Destination, name: String, _ request: OutputRequest) -> Bool {
        let slot = all.firstIndex { $0.presence == .gone } ?? all.count
        guard slot < OutputBoard.capacity else { return false }
        var source: PortAddress?
        if destination.isRaw { lineCheck = nil }
        if destination.needsSequencer, let client {
            source = PortAddress(client: client, port: slot)
            portsToMake.append((slot, name))
        }
        occupants &+= 1
        let ids = all.filter { $0.presence != .gone }.map(\.id)
        var output = Output(
            name: name, destination: destination, request: request, source: source, takenIDs: ids, occupant: occupants)
        if let kept = kept[output.id] { output.restore(kept) }
        if leftPlaying.contains(output.id) {
            if holdsBack { output.holdBack() } else { output.expectPlaying() }
        }
        if slot == all.count { all.append(output) } else { all[slot] = output }
        return true
    }

    /// From now on treats devices that a crashed run left playing like devices that return.
    mutating func release() {
        holdsBack = false
        for slot in all.indices { all[slot].release() }
    }

    /// Stops an output's device, and then frees its slot.
    mutating func remove(_ slot: Int) {
        // A device that has waited for its session is not to play on alone.
        all[slot].release()
        all[slot].presence = .leaving(generation: nil, since: nil)
    }

    /// Whether an output is being removed and its slot is not free yet.
    var isSomeoneLeaving: Bool { all.contains(where: \.isLeaving) }

    /// Retires outputs whose devices have been stopped, and frees their slots.
    ///
    /// A slot is reused, and its port deleted, only when nothing sent by the old output is in the queue any more. Otherwise
    /// its last messages would be lost, or old subscribers would hear the next output.
    ///
    /// - Parameters:
    ///   - report: the output thread's last report.
    ///   - published: generation of the last published board.
    ///   - patchbay: loses the subscriptions of retired outputs.
    ///   - effects: receives what must be done.
    ///   - now: the present time.
    /// - Returns: whether an output has advanced a step.
    mutating func freeSlots(
        _ report: OutputReport, _ published: UInt64, _ patchbay: inout Patchbay, _ effects: inout GatewayEffects,
        at now: HostTime
    ) -> Bool {
        var changed = false
        for slot in all.indices {
            switch all[slot].presence {
            case .leaving(let known, nil):
                // The device is not stopped before that board is in use.
                let generation = known ?? published
                let since = report.isInUse(generation) ? now : nil
                all[slot].presence = .leaving(generation: generation, since: since)
                // Another output may have waited for the device.
                guard since != nil else { continue }
            case .leaving(_, let since?)
            where since.microseconds(to: now) >= (mayTakeStop(slot, report) ? Self.longestStopGrace : Self.stopGrace):
                if case .line(let descriptor) = all[slot].sink { retired.append((slot, descriptor, published + 1)) }
                noteUnstopped(slot)
                let source = all[slot].source
                patchbay.unsubscribe(except: [], where: { $0.sender == source }, &effects)
                all[slot].sink = .idle
                all[slot].presence = .closing(generation: published + 1)
            case .closing(let generation)
            where report.isInUse(generation):
                all[slot].presence = .gone
                guard let source = all[slot].source else { break }
                effects.portsToDelete.append(source.port)
                // The port list may be older than this.
                patchbay.forget(source)
            default: continue
            }
            changed = true
        }
        return changed
    }

    /// Whether a device is connected to an output that is going, and whose messages may still be in the queue.
    func isStillSentTo(_ place: String) -> Bool {
        all.contains { $0.isSettling && $0.connectedTo == place }
    }

    /// Remembers the device of an output that is going if it may play on alone.
    private mutating func noteUnstopped(_ slot: Int) {
        guard leftPlaying.contains(all[slot].id), unstopped.count < OutputBoard.capacity,
            let place = all[slot].lastPlace, !isDriven(place)
        else { return }
        unstopped.insert(place)
    }

    /// Prepares an output for its device, which may play on from the output that had it before.
    mutating func takeOver(_ slot: Int, _ place: String) {
        guard all[slot].isClock else { return }
        let isLeft = all.contains { $0.isLeaving && $0.lastPlace == place }
        if unstopped.remove(place) != nil || isLeft || mayHaveLeftPlaying(slot) { all[slot].expectPlaying() }
    }

    /// Whether an output may have got a device that a crashed run had left playing at another output.
    ///
    /// That output is gone then, because the configuration or the order of outputs has changed. A Stop that a device
    /// does not need does no harm.
    private func mayHaveLeftPlaying(_ slot: Int) -> Bool {
        guard !all[slot].takesSubscribers else { return false }
        return !leftPlaying.intersection(crashed).isSubset(of: all.filter { $0.presence == .here }.map(\.id))
    }

    /// Whether an output's device is there, and has neither taken its Stop yet nor been given to another output.
    ///
    /// Another output stops the device itself; this one's Stop could come after that one's Start.
    private func mayTakeStop(_ slot: Int, _ report: OutputReport) -> Bool {
        guard let place = all[slot].connectedTo, !isDriven(place) else { return false }
        return report.mayPlay(slot) && all[slot].boardSink.hasReceiver
    }

    /// Whether a device gets the clock of an output that stays.
    private func isDriven(_ place: String) -> Bool {
        all.contains { $0.presence == .here && $0.isClock && $0.connectedTo == place }
    }

    /// How long a Stop may take on its way once the output thread has the board without the output, in microseconds.
    private static let stopGrace: Int64 = 200_000
    /// How long a device is offered its Stop again that has refused it, in microseconds.
    private static let longestStopGrace: Int64 = 1_000_000
}
