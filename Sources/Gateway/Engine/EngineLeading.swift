internal import ALSASequencer
internal import Arbiter
internal import BeatTime
internal import ClockDispatch
internal import LinkNetwork
internal import Logging
internal import MIDIClock

// Who leads, and what the session is asked for.
extension GatewayEngine {
    /// Takes a new state of the Link peer.
    mutating func linkChanged(to state: LinkState, at now: HostTime) {
        let isOffline = state.isNetworking && state.networks.isEmpty && (hasLostNetwork || !link.networks.isEmpty)
        if isOffline, !hasLostNetwork { logFromNetwork(LogEntry(.networkLost), at: now) }
        hasLostNetwork = isOffline
        effects.log += state.changes(since: link)
        for entry in state.sessionChanges(since: link) { logFromNetwork(entry, at: now) }
        link = state
        for entry in sessionLog.take(link.changes) { logFromNetwork(entry, at: now) }
        decide(at: now) { $0.linkChanged(LinkView(state), at: $1) }
    }

    /// Takes what other machines' clocks sent.
    mutating func heard(_ events: [ClockInputEvent], at now: HostTime) {
        for (index, part) in events.split(separator: .overflow, omittingEmptySubsequences: false).enumerated() {
            if index > 0 { arbiter.messagesLost() }
            let arrivals = part.compactMap { if case .arrival(let arrival) = $0 { arrival } else { nil } }
            guard !arrivals.isEmpty else { continue }
            let (reach, leaderReach) = (reach(at: now), leaderReach(at: now))
            decide(at: now) { $0.received(arrivals, reach: reach, leaderReach: leaderReach, at: $1) }
        }
    }

    /// Lets the arbiter decide, and carries out the resulting edit.
    ///
    /// - Parameters:
    ///   - token: gets its reply when the edit has taken effect.
    ///   - now: the present time.
    ///   - body: calls the arbiter, and returns its edit.
    mutating func decide(
        for token: ReplyToken? = nil, at now: HostTime, _ body: (inout Arbiter, HostTime) -> SessionEdit?
    ) {
        let (mode, transport, line) = (arbiter.mode, arbiter.transport, arbiter.line)
        let wasOutside = arbiter.tempoOutside != nil
        let (asked, probe) = (arbiter.probing?.slots, arbiter.probing?.probe)
        if let answer = body(&arbiter, now) {
            edit(answer, for: token, at: now)
        } else {
            reply(.success(()), to: token)
        }
        if (mode, transport, line) != (arbiter.mode, arbiter.transport, arbiter.line)
            || (asked, probe) != (arbiter.probing?.slots, arbiter.probing?.probe)
        {
            isBoardStale = true
        }
        if transport.isPlaying, arbiter.transport != transport {
            let isPending = line.position(at: now) < Double(transport.startTick)
            let isSame = outputs.songMoved(arbiter.transport, from: transport, wasPending: isPending)
            if !isSame { undoing.songEnded() }
        }
        if arbiter.transport.isPlaying { restartedAt = nil }
        isStatusStale = true
        keepTempo()
        logFence(wasOutside: wasOutside, at: now)
        // A switch of Link is logged when the peer reports it.
        if mode != arbiter.mode, [mode, arbiter.mode].contains(.follow) {
            logFromNetwork(LogEntry(.notice, "leader changed", ["reason": "\(arbiter.follower.reason)"]), at: now)
        }
    }

    /// Logs that the session's tempo has left the fence, or is inside again.
    private mutating func logFence(wasOutside: Bool, at now: HostTime) {
        if let tempo = arbiter.tempoOutside, !wasOutside {
            let text: Logger.Message = "the session's tempo is outside of --session-tempo"
            logFromNetwork(LogEntry(.warning, text, ["tempo": "\(tempo.beatsPerMinute)"]), at: now)
        } else if wasOutside, arbiter.tempoOutside == nil {
            logFromNetwork(LogEntry(.notice, "outputs follow the session's tempo again"), at: now)
        }
    }

    /// Asks the Link peer to change its session; it also has one while it is alone or off the network.
    mutating func edit(_ edit: SessionEdit, for token: ReplyToken?, at now: HostTime) {
        arbiter.asked(for: edit, at: now)
        effects.link.append(.edit(edit, token))
    }

    /// Switches Link; no clock is followed from just before the peer joins until it has left.
    mutating func switchLink(on isOn: Bool, _ token: ReplyToken?, at now: HostTime) {
        // If nothing changes, nobody has to stop leading.
        guard !arbiter.isLinkSettled(on: isOn) else { return reply(.success(()), to: token) }
        decide(at: now) { arbiter, _ in arbiter.linkSwitched(on: isOn) }
        effects.link.append(.setEnabled(isOn, token))
    }

    /// Tells the arbiter which clocks can be heard, which of them are chosen, and how our own clock may reach them.
    mutating func sourcesChanged(at now: HostTime) {
        let available = inputs.available(among: outputs.all, period: configuration.leaderPeriod)
        decide(at: now) { $0.sourcesChanged(to: available, at: $1) }
    }

    /// How far ahead the outputs have been given what they send, in microseconds.
    var horizon: Int64 { max(report.horizon, outputs.cardsAhead) }

    /// How soon every output can play, in microseconds.
    func reach(at now: HostTime) -> Int64 {
        outputs.all.filter(\.isEnabled).map { reach(of: $0, at: now) }.max() ?? SessionEdit.propagationTime
    }

    /// How soon the machines can play that a leader's song waits for, in microseconds; nil if there are none.
    ///
    /// A machine that needs very long enters later, by itself.
    private func leaderReach(at now: HostTime) -> Int64? {
        outputs.all.filter(\.hasListener).map { reach(of: $0, at: now) }.filter { $0 <= Arbiter.longestReach }.max()
    }

    private func reach(of output: Output, at now: HostTime) -> Int64 {
        let ahead = output.sink == .card ? outputs.cardsAhead : report.horizon
        let own = output.settings(at: now).reach(microsecondsPerBeat: arbiter.line.microsecondsPerBeat)
        return SessionEdit.propagationTime + ahead + max(0, own)
    }

    mutating func setPlaying(
        _ isPlaying: Bool, afterBars bars: Int = 0, for token: ReplyToken? = nil, at now: HostTime
    ) {
        restartedAt = nil
        let bar = arbiter.transport.ticksPerBar * arbiter.line.microsecondsPerBeat / TickLine.ticksPerBeat
        let reach = reach(at: now) + Int64(bars) * bar
        decide(for: token, at: now) { $0.setPlaying(isPlaying, reach: reach, at: $1) }
    }

    /// Starts playing, if asked to at the start, once everything is ready or the waiting time is over.
    mutating func playIfReady(at now: HostTime) {
        guard let deadline = playsOnceReady else { return }
        let isInSession = arbiter.isConnected || !startsWithLink
        let isReady = isInSession && report.generationInUse == board.generation
        guard isReady || now >= deadline else { return }
        playsOnceReady = nil
        setPlaying(true, at: now)
    }

    /// Takes Link off the network while there is no use for it, and back.
    mutating func tendLink(watchedAt: HostTime, at now: HostTime) {
        let isWanted = !configuration.deactivatesWhenIdle || link.isStartStopSyncEnabled
        let isUsed =
            isWanted || arbiter.transport.isPlaying || playsOnceReady != nil
            || outputs.all.contains { $0.isEnabled && $0.connectedTo != nil }
        guard idleness.hasChanged(isUsed: isUsed, lastWatched: watchedAt, at: now) else { return }
        effects.link.append(.setActive(idleness.isActive))
        log(.notice, idleness.isActive ? "Link is needed again" : "Link has nothing to drive, so it leaves the network")
    }
}
