internal import Arbiter
internal import BeatTime
internal import DeviceProfiles
internal import LinkNetwork
internal import Logging
internal import RealTime
internal import Synchronization

// The gateway thread's part with commands from outside.
extension GatewayCore {
    /// Carries a command out, or has it carried out.
    func perform(_ command: Command, _ reply: @escaping Reply) {
        commandsTaken += 1
        let order = commandsTaken
        let whenDone: @Sendable () -> Void = { [mailbox] in
            // The news of the change is in the mailbox already, so the reply comes after it.
            if !mailbox.post(.done(order: order, reply: reply)) { reply(.success(order)) }
        }
        switch command {
        case .enableLink(let isEnabled): switchLink(on: isEnabled, whenDone: whenDone)
        case .enableStartStopSync(let isEnabled): peer.setStartStopSync(isEnabled, whenDone: whenDone)
        case .setPlaying(let isPlaying):
            if let leader = arbiter.transportLeaderName {
                reply(.failure(.notLeader(leader)))
            } else {
                setPlaying(isPlaying, whenDone: whenDone)
            }
        case .setTempo(let tempo): setTempo(reply, whenDone) { tempo }
        case .tap(let time): setTempo(reply, whenDone) { tapping.tapped(at: time ?? .now()) }
        case .follow(let choice):
            inputs.choose(choice, device: input?.device)
            sourcesChanged()
            reply(.success(order))
        case .setQuantum(let quantum):
            setQuantum(quantum)
            reply(.success(order))
        case .configure(let wishes):
            configure(wishes)
            reply(.success(order))
        case .adjust(let id, let adjustment): reply(changeOutput(id, order) { $0.adjust(adjustment) })
        case .realign(let id, let when): reply(changeOutput(id, order) { $0.realigning.ask(when) })
        }
    }

    /// Sets the tempo, if the user leads and wants one.
    private func setTempo(_ reply: Reply, _ whenDone: @escaping @Sendable () -> Void, _ wish: () -> Tempo?) {
        if let leader = arbiter.leaderName {
            reply(.failure(.notLeader(leader)))
        } else if let tempo = wish() {
            edit(.setTempo(tempo), whenDone: whenDone)
        } else {
            whenDone()
        }
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
        if new.follow != old.follow { inputs.choose(new.follow, device: input?.device) }
        hearDevices()
        sourcesChanged()
    }

    private func changeOutput(
        _ id: String?, _ order: UInt64, _ change: (inout Output) -> Void
    ) -> Result<UInt64, CommandRefusal> {
        do throws(CommandRefusal) {
            try rack.change(id, change)
        } catch {
            return .failure(error)
        }
        boardChanged()
        sourcesChanged()
        return .success(order)
    }

    /// Nobody is followed from before the peer is told to join until it has left.
    func switchLink(on isOn: Bool, whenDone: (@Sendable () -> Void)? = nil) {
        // What is so already needs nobody to let go.
        guard !arbiter.isLinkSettled(on: isOn) else {
            whenDone?()
            return
        }
        conduct { arbiter, _ in
            arbiter.linkSwitched(on: isOn)
            return nil
        }
        peer.setEnabled(isOn, whenDone: whenDone)
    }
}
