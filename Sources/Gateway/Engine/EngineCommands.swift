internal import ALSASequencer
internal import Arbiter
internal import BeatTime
internal import ClockDispatch
internal import ConfigurationFiles
internal import Essentials
internal import Logging
internal import MIDIClock

// Commands from outside.
extension GatewayEngine {
    /// Carries out a command, or starts it.
    ///
    /// - Parameters:
    ///   - command: from any source.
    ///   - token: gets its reply once the status shows the effect, but not if the command is refused.
    ///   - now: the present time.
    /// - Throws: why it is refused; nothing has changed then.
    mutating func perform(_ command: Command, _ token: ReplyToken?, at now: HostTime) throws(CommandError) {
        if case .undo = command { return try undo(token, at: now) }
        let before = setting(of: command)
        if let plain = try plain(command, at: now) {
            try carryOut(plain, token, at: now)
        } else {
            reply(.success(()), to: token)
        }
        if let before { noteChange(from: before, by: command.undoKind, at: now) }
    }

    /// What a command that depends on the present state means now; nil if it changes nothing.
    ///
    /// Thus ``carryOut(_:_:at:)`` is never called while it runs: its frame is large, and the thread's stack is not.
    private mutating func plain(_ command: Command, at now: HostTime) throws(CommandError) -> Command? {
        switch command {
        case .toggleLink: return .enableLink(!arbiter.wantsLink)
        case .togglePlaying: return .setPlaying(!arbiter.expectsToPlay)
        case .stepTempo(let step):
            if let leader = arbiter.leaderName { throw .notLeader(leader) }
            // An edit to the same tempo would overrule a peer that has just changed it.
            return step == 0 ? nil : .setTempo(try tempo { $0 + step })
        case .scaleTempo(let factor):
            if let leader = arbiter.leaderName { throw .notLeader(leader) }
            return .setTempo(try tempo { $0 * factor })
        case .tap(let time):
            if let leader = arbiter.leaderName { throw .notLeader(leader) }
            let reading = tapping.tapped(at: time ?? now)
            tapped = (reading, now)
            isStatusStale = true
            if reading.counted == 1 { undoing.end() }
            return reading.tempo.map(Command.setTempo)
        default: return command
        }
    }

    private mutating func carryOut(_ command: Command, _ token: ReplyToken?, at now: HostTime) throws(CommandError) {
        switch command {
        case .enableLink(let isOn):
            keep { $0.link = isOn }
            switchLink(on: isOn, token, at: now)
        case .enableStartStopSync(let isOn):
            keep { $0.startStopSync = isOn }
            wantsStartStopSync = isOn
            effects.link.append(.setStartStopSync(isOn, token))
        case .setPlaying(let isPlaying):
            if let leader = arbiter.transportLeaderName { throw .notTransportLeader(leader) }
            setPlaying(isPlaying, for: token, at: now)
        case .countIn(let bars):
            if let leader = arbiter.transportLeaderName { throw .notTransportLeader(leader) }
            setPlaying(true, afterBars: bars, for: token, at: now)
        case .setTempo(let tempo):
            if let leader = arbiter.leaderName { throw .notLeader(leader) }
            keep { $0.tempo = KeptState.rounded(tempo) }
            edit(.setTempo(tempo), for: token, at: now)
        case .follow(let choice):
            try inputs.requireClear(choice, among: patchbay.list.senders(except: own))
            let configured = configuration.follow
            keep { $0.follow = Replacement(choice.text, insteadOf: configured.text) }
            arbiter.giveTransportBack()
            // Forgets all refused subscriptions, so outputs try theirs again as well.
            patchbay.retry()
            portsChanged(following: choice, at: now)
            reply(.success(()), to: token)
        case .setQuantum(let quantum):
            let configured = configuration.quantum
            keep { $0.quantum = Replacement(quantum.value, insteadOf: configured.value) }
            setQuantum(quantum, at: now)
            reply(.success(()), to: token)
        case .configure(let new):
            configure(new, at: now)
            reply(.success(()), to: token)
        case .adjust(let name, let adjustment):
            try outputs.adjust(name, adjustment, marking: arbiter.line, at: now)
            adjusted(at: now)
            reply(.success(()), to: token)
        case .realign(let name, let when):
            let transport = arbiter.transport
            let isPlaying = transport.isPlaying && arbiter.line.position(at: now) >= Double(transport.startTick)
            try outputs.realign(name, when, isPlaying: isPlaying)
            outputsChanged()
            reply(.success(()), to: token)
        case .mute(let name, let muting):
            try outputs.mute(name, muting, in: songPlace(at: now))
            outputsChanged()
            reply(.success(()), to: token)
        case .bend(let name, let percent, let time, let holder):
            if try outputs.bend(name, percent, for: time, by: holder, at: now) { outputsChanged() }
            arbiter.outputsBent(until: now.advanced(byMicroseconds: time + Bend.longestReturn))
            reply(.success(()), to: token)
        case .toggleLink, .togglePlaying, .stepTempo, .scaleTempo, .tap, .undo: break  // see perform
        }
    }

    /// Where the song is.
    func songPlace(at now: HostTime) -> SongPlace {
        let transport = arbiter.transport
        return SongPlace(
            tick: transport.isPlaying ? arbiter.line.position(at: now) - Double(transport.startTick) : nil,
            ticksPerBar: transport.ticksPerBar, microsecondsPerBeat: arbiter.line.microsecondsPerBeat,
            delay: SessionEdit.propagationTime + horizon, now: now)
    }

    /// A tempo computed from the present one, in BPM and to a thousandth.
    private func tempo(_ compute: (Double) -> Double) throws(CommandError) -> Tempo {
        let present = arbiter.expectedTempo.asStated
        let tempo = (compute(present.beatsPerMinute) * 1_000).rounded() / 1_000
        guard CommandRange.tempo.contains(tempo) else {
            throw .outOfRange(
                "the tempo stays at \(present.text) BPM, because \(shortest(tempo, atMost: 3)) is not allowed",
                possible: "a tempo is \(CommandRange.tempo.words)")
        }
        return Tempo(beatsPerMinute: tempo)
    }

    /// Updates the rest after settings of outputs have changed.
    mutating func adjusted(at now: HostTime) {
        keepSettings()
        outputsChanged()
        sourcesChanged(at: now)
    }

    private mutating func setQuantum(_ quantum: Beats, at now: HostTime) {
        decide(at: now) { arbiter, _ in
            arbiter.quantum = quantum
            return nil
        }
    }

    /// Applies a new configuration; unchanged parts keep running.
    private mutating func configure(_ new: LiveConfiguration, at now: HostTime) {
        let old = configuration
        configuration = new
        undoing.clear()
        log(.notice, "configuration and profiles reloaded")
        for notice in new.notices where !old.notices.contains(notice) { effects.log.append(LogEntry(notice)) }
        if new.quantum != old.quantum {
            keep { $0.quantum = nil }
            setQuantum(new.quantum, at: now)
        }
        arbiter.stopsWhenLost = new.stopsWhenLost
        if new.fence != old.fence {
            decide(at: now) { arbiter, now in
                arbiter.setFence(new.fence, at: now)
                return nil
            }
            outputsChanged()
        }
        if new.outputs != old.outputs {
            outputs.configure(new.outputs, devices: patchbay.list.receivers(except: own))
            outputsChanged()
        }
        if new.controls != old.controls {
            let hadInput = controls.client != nil
            controls.configure(new.controls)
            if controls.wantsInput, !hadInput { effects.questions.append(.openControls) }
            if !controls.wantsInput, hadInput { effects.closesControls = true }
        }
        let isFollowNew = new.follow != old.follow
        if isFollowNew { keep { $0.follow = nil } }
        keepSettings()
        patchbay.retry()
        portsChanged(following: isFollowNew ? new.follow : nil, at: now)
        sourcesChanged(at: now)
    }

    /// Carries out the commands of buttons and pedals.
    mutating func pressed(_ arrivals: [ControlArrival], at now: HostTime) {
        for press in arrivals.flatMap({ controls.presses($0) }) {
            var refusal: CommandError?
            do throws(CommandError) {
                try perform(press.command.get(), nil, at: now)
            } catch {
                refusal = error
            }
            guard controls.note(press, refusal) else { continue }
            isStatusStale = true
            guard let refusal else { continue }
            // Logged once, not for each further press refused for the same reason. A controller that moves out of range
            // gives a new reason with each of its values, as fast as it likes.
            let details: Logger.Metadata = [
                "port": "\(press.port)", "do": "\(press.verb.rawValue)", "error": "\(refusal)",
            ]
            logFromNetwork(LogEntry(.notice, "control refused", details), at: now)
        }
    }
}
