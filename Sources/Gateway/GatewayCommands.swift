internal import Arbiter
internal import BeatTime
internal import ConfigurationFiles
internal import LinkNetwork
internal import Logging
internal import MIDIClock
internal import RealTime
internal import Synchronization

// The gateway thread's part with commands from outside.
extension GatewayCore {
    /// Carries a command out, or has it carried out.
    func perform(_ command: Command, _ reply: @escaping Reply) {
        let whenDone: @Sendable () -> Void = { [mailbox] in
            // The news of the change is in the mailbox already, so the reply comes after it.
            if !mailbox.post(.done(reply: reply)) { reply(.success(())) }
        }
        do throws(CommandRefusal) {
            if try carryOut(command, whenDone: whenDone) { reply(.success(())) }
        } catch {
            reply(.failure(error))
        }
    }

    /// Carries a command out, or has it carried out.
    ///
    /// - Parameters:
    ///   - command: from wherever it comes.
    ///   - whenDone: is called once the Link peer has taken it, if it is for that.
    /// - Returns: whether it is carried out already.
    /// - Throws: why it is not carried out.
    func carryOut(
        _ command: Command, whenDone: @escaping @Sendable () -> Void = {}
    ) throws(CommandRefusal) -> Bool {
        if let leader = leaderName(excluding: command) { throw .notLeader(leader) }
        guard let command = resolved(command) else { return true }
        let old = wishes
        let isDone = try begin(command, whenDone: whenDone)
        keep(command, before: old)
        return isDone
    }

    /// The machine whose leading excludes a command: tempo, or the transport, is its own.
    private func leaderName(excluding command: Command) -> String? {
        switch command {
        case .setPlaying, .togglePlaying: arbiter.transportLeaderName
        case .setTempo, .tap: arbiter.leaderName
        default: nil
        }
    }

    /// What a command means that depends on how things are; nil if it means nothing yet.
    private func resolved(_ command: Command) -> Command? {
        switch command {
        case .togglePlaying: .setPlaying(!arbiter.transport.isPlaying)
        case .toggleLink: .enableLink(!arbiter.wantsLink)
        case .tap(let time): tapping.tapped(at: time ?? .now()).map(Command.setTempo)
        default: command
        }
    }

    /// Begins to carry out a command that means the same whatever is; true if that is all there is to it.
    private func begin(
        _ command: Command, whenDone: @escaping @Sendable () -> Void
    ) throws(CommandRefusal) -> Bool {
        switch command {
        case .enableLink(let isEnabled): switchLink(on: isEnabled, whenDone: whenDone)
        case .enableStartStopSync(let isEnabled): peer.setStartStopSync(isEnabled, whenDone: whenDone)
        case .setPlaying(let isPlaying): setPlaying(isPlaying, whenDone: whenDone)
        case .setTempo(let tempo): edit(.setTempo(tempo), whenDone: whenDone)
        case .follow(let choice):
            try inputs.requireClear(choice)
            inputs.choose(choice, device: input?.device)
            sourcesChanged()
            return true
        case .setQuantum(let quantum):
            setQuantum(quantum)
            return true
        case .configure(let wishes):
            configure(wishes)
            return true
        case .adjust(let id, let adjustment):
            try rack.adjust(id, adjustment)
            if let seconds = adjustment.markSeconds {
                let line = arbiter.line
                try rack.change(id) { $0.markTicks(seconds: seconds, on: line, at: .now()) }
            }
            outputsChanged()
            return true
        case .realign(let id, let when):
            let transport = arbiter.transport
            let isPlaying = transport.isPlaying && arbiter.line.position(at: .now()) >= Double(transport.startTick)
            try rack.realign(id, when, isPlaying: isPlaying)
            boardChanged()
            return true
        case .togglePlaying, .toggleLink, .tap: return true
        }
        return false
    }

    func setPlaying(_ isPlaying: Bool, whenDone: (@Sendable () -> Void)? = nil) {
        let reach = reach
        conduct({ $0.setPlaying(isPlaying, reach: reach, at: $1) }, whenDone: whenDone)
    }

    private func setQuantum(_ quantum: Beats) {
        conduct { arbiter, _ in
            arbiter.quantum = quantum
            return nil
        }
    }

    /// Takes what is wished otherwise than before.
    private func configure(_ new: Wishes) {
        let old = picture.withLock { picture in
            defer { picture.wishes = new }
            return picture.wishes
        }
        log.notice("configuration and profiles read again")
        for warning in new.warnings where !old.warnings.contains(warning) { log.note(warning) }
        if new.quantum != old.quantum { setQuantum(new.quantum) }
        arbiter.stopsWhenLost = new.stopsWhenLost
        if new.outputs != old.outputs {
            rack.configure(new.outputs, devices: rack.devices)
            _ = rack.connectDevices()
            boardChanged()
        }
        inputs.library = new.outputs.library
        if new.controls != old.controls { controls.configure(new.controls) }
        if new.follow != old.follow { inputs.choose(new.follow, device: input?.device) }
        hearDevices()
        sourcesChanged()
    }

    private func changeOutput(_ id: String?, _ change: (inout Output) -> Void) throws(CommandRefusal) {
        try rack.change(id, change)
        outputsChanged()
    }

    private func outputsChanged() {
        boardChanged()
        sourcesChanged()
    }

    /// Nobody is followed from before the peer is told to join until it has left.
    func switchLink(on isOn: Bool, whenDone: (@Sendable () -> Void)? = nil) {
        // What is so already needs nobody to let go.
        guard !arbiter.isLinkSettled(on: isOn) else {
            whenDone?()
            return
        }
        conduct { arbiter, _ in arbiter.linkSwitched(on: isOn) }
        peer.setEnabled(isOn, whenDone: whenDone)
    }
}
