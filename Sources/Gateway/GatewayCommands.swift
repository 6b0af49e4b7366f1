internal import Arbiter
internal import BeatTime
internal import DeviceProfiles
internal import LinkNetwork
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
        case .setPlaying(let isPlaying): lead(reply, whenDone) { isPlaying ? .play(reach: reach) : .stop }
        case .setTempo(let tempo): lead(reply, whenDone) { .setTempo(tempo) }
        case .tap(let time): lead(reply, whenDone) { tapping.tapped(at: time ?? .now()).map { .setTempo($0) } }
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

    /// Does what only the leader may do, if that is the user.
    private func lead(_ reply: Reply, _ whenDone: @escaping @Sendable () -> Void, _ wish: () -> SessionEdit?) {
        if let leader = arbiter.leaderName {
            reply(.failure(.notLeader(leader)))
        } else if let edit = wish() {
            self.edit(edit, whenDone: whenDone)
        } else {
            whenDone()
        }
    }

    private func setQuantum(_ quantum: Beats) {
        conduct { arbiter, _ in
            arbiter.quantum = quantum
            return nil
        }
    }

    /// Takes what is wished otherwise than before.
    private func configure(_ new: Wishes) {
        let old = wishes
        wishes = new
        picture.withLock { $0.profiles = new.outputs.library.profiles }
        if new.quantum != old.quantum { setQuantum(new.quantum) }
        if new.stopsWhenLost != old.stopsWhenLost { arbiter.stopsWhenLost = new.stopsWhenLost }
        if new.outputs != old.outputs {
            rack.configure(new.outputs)
            boardChanged()
        }
        inputs.library = new.outputs.library
        if new.follow != old.follow { inputs.choose(new.follow, device: input?.device) }
        portsChanged()
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
