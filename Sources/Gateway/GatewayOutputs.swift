internal import Arbiter
internal import BeatTime
internal import ClockDispatch
internal import Logging
internal import MIDIClock
internal import RealTime
internal import Synchronization

// The gateway thread's part with the outputs, and with the board that the output thread reads.
extension GatewayCore {
    /// How soon every output can play, in microseconds.
    var reach: Int64 {
        let beat = arbiter.line.microsecondsPerBeat
        let slowest = rack.outputs.filter(\.isEnabled).map { $0.settings.reach(microsecondsPerBeat: beat) }.max() ?? 0
        return SessionEdit.newsTime + max(0, slowest)
    }

    /// Whether it was told to play and waits for outputs and a session.
    var isAboutToPlay: Bool { playsOnceReady != nil }

    /// Plays, if it was told to and everything is ready, or has had its time.
    func playIfReady() {
        guard let deadline = playsOnceReady else { return }
        let isInSession = arbiter.isConnected || !startsWithLink
        let arePortsMade = !output.hasSequencer || board.ports & ~output.existingPorts == 0
        let isReady = isInSession && arePortsMade && output.generationInUse == board.generation
        guard isReady || MonotonicTime.now() >= deadline else { return }
        playsOnceReady = nil
        setPlaying(true)
    }

    /// Frees slots, and looks after lines, drivers and devices that are to stop.
    func tendOutputs() {
        if started.awaitsStop { keepStarted() }
        let generations = (inUse: output.generationInUse, published: board.generation)
        let isFreed = rack.freeSlots(existingPorts: output.existingPorts, generations: generations)
        let changed = rack.tendLines(
            isBroken: { slot in
                output.withCounters(of: slot) { $0.isLineBroken.exchange(false, ordering: .relaxed) }
            }, generations: generations)
        let isLookDue = watch.isDue(isWanted: rack.needsWatching, at: .now())
        if isLookDue && rack.watchDevices() || isFreed || changed { boardChanged() }
        // Somebody may have been waiting for a slot.
        if isFreed { portsChanged() }
    }

    /// Tells everyone that outputs have come, gone or changed.
    func boardChanged() {
        publish()
        let before = picture.withLock { picture in
            defer { (picture.outputs, picture.outputWarnings) = (rack.outputs, rack.warnings) }
            return picture.outputs
        }
        for (slot, output) in rack.outputs.enumerated() {
            let old = slot < before.count && before[slot].tenant == output.tenant ? before[slot] : nil
            log.noteChange(from: old, to: output)
        }
    }

    /// Gives the output thread a board with what is so now.
    func publish() {
        rack.setMaster(arbiter.leader, device: input?.device?.name)
        board.map = arbiter.map
        board.transport = arbiter.transport
        board.take(rack.outputs, probing: arbiter.probing)
        board.generation += 1
        snapshot.publish(board)
        keepStarted()
    }
}
