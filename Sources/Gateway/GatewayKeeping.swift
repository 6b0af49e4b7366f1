internal import BeatTime
internal import ClockDispatch
internal import MIDIClock

// The gateway thread's part with what the next run is to find.
extension GatewayCore {
    /// Keeps what a command has set.
    ///
    /// - Parameters:
    ///   - command: one that is being carried out.
    ///   - old: what was wished before it.
    func keep(_ command: Command, before old: Wishes) {
        var state = kept
        switch command {
        case .enableLink(let isEnabled): state.link = isEnabled
        case .enableStartStopSync(let isEnabled): state.startStopSync = isEnabled
        case .setTempo(let tempo): state.tempo = Self.kept(tempo)
        case .setQuantum(let quantum): state.quantum = Replacement(quantum.value, insteadOf: wishes.quantum.value)
        case .follow(let choice): state.follow = Replacement(choice.text, insteadOf: wishes.follow.text)
        case .configure:
            if wishes.quantum != old.quantum { state.quantum = nil }
            if wishes.follow != old.follow { state.follow = nil }
        default: break
        }
        rack.keepOffsets(in: &state.offsets)
        keep(state, .setting)
    }

    /// Keeps the tempo in force, whoever has set it.
    func keep(_ tempo: Tempo) {
        var state = kept
        state.tempo = Self.kept(tempo)
        keep(state, .drift)
    }

    /// Keeps which devices play, as far as it is known by now.
    func keepStarted() {
        let isKnown = output.generationInUse == board.generation
        started.update(rack.outputs, isPlaying: board.transport.isPlaying) { !isKnown || output.mayPlay($0) }
        keep(started)
    }

    /// Keeps which devices have not taken their last Stop, once all has ended.
    func keepUnstopped() {
        started.end(rack.outputs) { output.mayPlay($0) }
        keep(started)
    }

    private func keep(_ started: StartedDevices) {
        var state = kept
        state.playing = started.ids.sorted()
        keep(state, .setting)
    }

    private func keep(_ state: KeptState, _ change: WriteSchedule.Change) {
        guard state != kept else { return }
        kept = state
        keeper?.keep(state, change)
    }

    /// To a thousandth: what is finer is a follower's guess.
    private static func kept(_ tempo: Tempo) -> Double { (tempo.clamped.beatsPerMinute * 1_000).rounded() / 1_000 }
}

extension OutputRack {
    /// Brings kept offsets up to date with the outputs there are; those of others stay as they are, as many as may.
    func keepOffsets(in offsets: inout [String: Replacement<Double>]) {
        let here = outputs.filter { $0.presence == .here }
        for output in here { offsets[output.id] = output.liveOffset }
        guard offsets.count > KeptState.mostOffsets else { return }
        let ids = Set(here.map(\.id))
        offsets = offsets.filter { ids.contains($0.key) }
    }
}
