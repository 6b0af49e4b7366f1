package import BeatTime
internal import LinkSession
internal import LoopGuard
package import MIDIClock

/// Decides who leads, and turns the leader's timeline and transport into one plan for all outputs.
///
/// A pure value: it takes what happened and when, and the result is ``map`` and ``transport``. Owned by the gateway
/// thread.
package struct Arbiter: Sendable {
    /// The shared quantum; a new one moves no tick, and applies from the next boundary.
    package var quantum: Beats {
        didSet { transport.ticksPerBar = Self.ticksPerBar(quantum) }
    }
    /// True if the song stops when the leader falls silent; otherwise it plays on.
    package var stopsWhenLost = false
    /// Where ticks fall, and how that has changed.
    package internal(set) var map: TempoMap
    /// The session tempos that outputs follow; nil for all.
    package private(set) var fence: TempoFence?
    /// Whether outputs keep their own tempo, because the session's is outside the fence.
    private var isHolding = false
    /// Whether the song plays, and where it begins.
    package internal(set) var transport: PlannedTransport
    /// How often the beats of a playing song were moved to another grid, while the song went on.
    package private(set) var relocations: UInt32 = 0
    var link: LinkView
    /// The machines whose clocks are received.
    var tracked = TrackedSources()
    /// The machine that leads, and how it is followed; nil unless the mode is `follow`.
    var following: Following?
    /// The machine that led last.
    var lastLeader: ClockSource?
    /// How soon the machines that a leader's song waits for can play, in microseconds; nil if there are none.
    var leaderReach: Int64?
    private(set) var choice: LeaderChoice
    /// Recognises our own clock when it comes back.
    var loopGuard: LoopGuard
    /// Names of the machines that may send a clock.
    private(set) var sourceNames: [ClockSource: String] = [:]
    /// The machines whose Start, Continue and Stop act as a remote control.
    ///
    /// They can play and stop as the user can. Their ticks are ignored.
    private var remotes: Set<ClockSource> = []
    /// Whether the user wants Link.
    package private(set) var wantsLink: Bool
    /// How often the Link peer has been asked to switch.
    private var switchingsAsked: UInt64
    /// How many edits the Link peer was asked for, and how many it must have made before its state counts.
    private var edits: (asked: UInt64, awaited: UInt64)
    /// The last tempo that the Link peer was asked for, and the number of that edit.
    private var tempoAsked: (tempo: Tempo, edit: UInt64)?
    /// The last change of play and stop that was asked for, with its number among the edits.
    private var playingAsked: (isPlaying: Bool, edit: UInt64)?

    /// Begins with the Link peer's first state.
    ///
    /// - Parameters:
    ///   - link: the state of the Link peer.
    ///   - quantum: 0 to 64 beats; 0 means no quantization.
    ///   - choice: which clock may lead while Link is off.
    ///   - seed: for the loop guard's probes; others should not be able to guess it.
    package init(_ link: LinkView, quantum: Beats, following choice: LeaderChoice, seed: UInt64) {
        loopGuard = LoopGuard(seed: seed)
        self.link = link
        self.quantum = quantum
        self.choice = choice
        (wantsLink, switchingsAsked) = (link.isEnabled, link.switchings)
        edits = (link.edits, link.edits)
        map = TempoMap(TickLine(link.state.timeline, tickOrigin: 0))
        transport = .stopped
        transport.ticksPerBar = Self.ticksPerBar(quantum)
        if link.state.isPlaying { start() }
    }

    /// The line that ticks follow from now on.
    package var line: TickLine { map.line }

    /// Who leads: always exactly one.
    package var mode: Mode { isLinkLeading ? .link : following == nil ? .internal : .follow }

    /// Whether the session leads: from before the peer is told to join until it has left.
    var isLinkLeading: Bool { wantsLink || link.isEnabled || link.switchings != switchingsAsked }

    /// Whether there are peers in the session.
    package var isConnected: Bool { link.state.isConnected }

    /// Whether Link already has this state, with no switch under way.
    package func isLinkSettled(on isOn: Bool) -> Bool {
        wantsLink == isOn && link.isEnabled == isOn && link.switchings == switchingsAsked
    }

    /// Notes that the user switches Link; call it before the Link peer is told.
    ///
    /// A leader stops leading before the peer can join a session. Nobody is followed again before the peer has left.
    ///
    /// - Returns: an edit that the peer must make before it is switched, to continue where the leader is.
    package mutating func linkSwitched(on isOn: Bool) -> SessionEdit? {
        wantsLink = isOn
        switchingsAsked &+= 1
        defer { (following, map.tolerance) = (nil, nil) }
        return handOver
    }

    /// Notes that the Link peer has been asked for an edit; call it for every edit, in order.
    ///
    /// A timeline handed over counts from now on. States from before the peer had it are ignored.
    package mutating func asked(for edit: SessionEdit, at now: HostTime) {
        edits.asked &+= 1
        switch edit {
        case .setTempo(let tempo): tempoAsked = (tempo.clamped, edits.asked)
        case .play: playingAsked = (true, edits.asked)
        case .stop: playingAsked = (false, edits.asked)
        case .goOn: (tempoAsked, playingAsked) = (nil, nil)
        case .countFrom: break
        }
        guard case .goOn = edit else { return }
        edits.awaited = edits.asked
        edit.apply(to: &link.state, at: now)
    }

    /// Notes until when outputs may be off the timeline, since somebody bends them: an echo of them is, too.
    package mutating func outputsBent(until time: HostTime) { loopGuard.outputsBent(until: time) }

    /// Whether the Link peer has been asked for an edit that its state does not show yet.
    package var awaitsEdit: Bool { link.edits < edits.asked }

    /// The session's tempo once the Link peer has made every edit that it was asked for.
    package var expectedTempo: Tempo {
        if let tempoAsked, link.edits < tempoAsked.edit { tempoAsked.tempo } else { link.state.timeline.tempo }
    }

    /// Whether the song plays once the Link peer has made every edit that it was asked for.
    package var expectsToPlay: Bool {
        if let playingAsked, link.edits < playingAsked.edit { playingAsked.isPlaying } else { transport.isPlaying }
    }

    /// Sets which sources there are, and which of them may lead while Link is off.
    ///
    /// - Parameters:
    ///   - sources: replaces the previous value; a source that is not in it is gone.
    ///   - now: the present host time.
    /// - Returns: an edit to make, if this changes who leads.
    package mutating func sourcesChanged(to sources: AvailableSources, at now: HostTime) -> SessionEdit? {
        (choice, sourceNames, remotes) = (sources.choice, sources.names, sources.remotes)
        for gone in tracked.all.map(\.source) where sources.paths[gone] == nil {
            loopGuard.removed(gone)
            tracked.forget(gone)
        }
        for (source, path) in sources.paths { loopGuard.pathChanged(of: source, to: path, at: now) }
        loopGuard.offsets = sources.offsets
        tracked.periods = sources.periods
        return followLeader(at: now)
    }

    /// Processes what other machines' clocks sent, in order of arrival.
    ///
    /// - Parameters:
    ///   - arrivals: any number.
    ///   - reach: how soon every output can play, in microseconds.
    ///   - leaderReach: how soon the machines can play that a leader's song waits for, at most ``longestReach``;
    ///     nil if there are none.
    ///   - now: the present host time.
    /// - Returns: an edit to make, if there is one.
    package mutating func received(
        _ arrivals: [ClockArrival], reach: Int64, leaderReach: Int64?, at now: HostTime
    ) -> SessionEdit? {
        self.leaderReach = leaderReach
        var requestedEdit: SessionEdit?
        for arrival in arrivals {
            let press = press(arrival, reach: reach, at: now)
            requestedEdit = press ?? requestedEdit
            let reason = press == nil ? reasonToIgnore(arrival.source) : nil
            tracked.received(arrival, ignoredBecause: reason)
            // Only clocks that could lead, now or later, are checked for a loop; a check moves ticks.
            let guarded: [IgnoredClockReason?] = [nil, .isEcho, .hearsUs, .anotherLeads]
            guard arrival.message == .timingClock, guarded.contains(reason) else { continue }
            loopGuard.received(
                from: arrival.source, at: arrival.time, on: map, isFollowed: arrival.source == following?.source)
        }
        let handOver = followLeader(at: now)
        // A clock that has just become the leader also leads the transport.
        return following == nil ? handOver ?? requestedEdit : nil
    }

    /// The effect of a message if it comes from a remote control.
    private mutating func press(_ arrival: ClockArrival, reach: Int64, at now: HostTime) -> SessionEdit? {
        guard remotes.contains(arrival.source), arrival.source != leader, transportLeaderName == nil else { return nil }
        return switch arrival.message {
        case .start, .continue: setPlaying(true, reach: reach, at: now)
        case .stop: setPlaying(false, reach: reach, at: now)
        case .timingClock, .songPosition: nil
        }
    }

    /// Notes that an unknown number of other machines' messages was lost.
    package mutating func messagesLost() { tracked.messagesLost() }

    /// Does what is due; call it at ``nextDeadline``, earlier calls are harmless.
    ///
    /// - Returns: an edit to make, if there is one.
    package mutating func timePassed(to now: HostTime) -> SessionEdit? {
        tracked.timePassed(to: now)
        loopGuard.timePassed(to: now, on: map)
        return followLeader(at: now)
    }

    /// When ``timePassed(to:)`` has something to do; nil while there is nothing to wait for.
    package var nextDeadline: HostTime? {
        [tracked.nextDeadline, loopGuard.nextDeadline(on: map)].compactMap(\.self).min()
    }

    /// Why a clock is ignored; nil if it leads or may lead.
    func reasonToIgnore(_ source: ClockSource) -> IgnoredClockReason? {
        guard !isLinkLeading else { return .linkLeads }
        switch choice {
        case .none: return .off
        case .only(source): break
        case .anyOf(let sources) where sources.contains(source): break
        case .only, .anyOf: return .notChosen
        }
        if case .excluded(let reason) = loopGuard.verdict(of: source) { return reason == .gateway ? .hearsUs : .isEcho }
        return following.map { $0.source == source } == false ? .anotherLeads : nil
    }

    /// Takes a new state of the Link peer.
    ///
    /// - Parameters:
    ///   - newLink: its newest state; states in between may have been skipped.
    ///   - now: the present host time.
    /// - Returns: an edit to make, if there is one.
    package mutating func linkChanged(_ newLink: LinkView, at now: HostTime) -> SessionEdit? {
        // During a switch this state is outdated; the next one will be complete.
        guard newLink.switchings == switchingsAsked, newLink.edits >= edits.awaited else { return nil }
        guard following == nil else {
            // The clock that leads determines where the beats are.
            link = newLink
            return nil
        }
        return takeOver(newLink, at: now) ?? followLeader(at: now)
    }

    /// Sets which session tempos outputs follow; the session itself does not change.
    package mutating func setFence(_ fence: TempoFence?, at now: HostTime) {
        guard fence != self.fence else { return }
        self.fence = fence
        if following == nil { _ = takeOver(link, at: now) }
    }

    /// The session's tempo if it is outside the fence.
    package var tempoOutside: Tempo? {
        guard following == nil, let fence, !fence.contains(link.state.timeline.tempo) else { return nil }
        return link.state.timeline.tempo
    }

    /// The range that outputs fold the session's tempo into; nil if there is none, or while a clock leads.
    package var folding: TempoRange? { following == nil ? fence?.folding : nil }

    /// Keeps outputs at a tempo inside the fence, whatever the session does.
    private mutating func hold(_ fence: TempoFence, at now: HostTime) {
        isHolding = true
        let tempo = Tempo(microsecondsPerBeat: line.microsecondsPerBeat)
        guard !fence.contains(tempo) else { return }
        let tick = line.nearestTick(to: now)
        let length = fence.nearest(to: tempo).microsecondsPerBeat
        map.changeTempo(
            to: TickLine(microsecondsPerBeat: length, timeOrigin: line.time(ofTick: tick), tickOrigin: tick), at: now)
    }

    private mutating func takeOver(_ newLink: LinkView, at now: HostTime) -> SessionEdit? {
        let old = (link: link, line: line)
        link = newLink
        let wasHolding = isHolding
        if let fence, fence.outside == .hold, tempoOutside != nil {
            hold(fence, at: now)
        } else {
            isHolding = false
            map.follow(
                newLink, after: old.link, isNewGrid: wasHolding, ticksPerBar: transport.ticksPerBar, at: now)
        }
        guard newLink.state.isPlaying else {
            transport.isPlaying = false
            return nil
        }
        let isPending = old.line.position(at: now) < Double(transport.startTick)
        let isSameStart = old.link.state.timeForIsPlaying == newLink.state.timeForIsPlaying
        if transport.isPlaying, !isPending, isSameStart || line != old.line {
            let isNewGrid = old.link.sessionID != newLink.sessionID || wasHolding
            relocate(from: old.line, isNewGrid: isNewGrid && !isHolding, at: now)
            return nil
        }
        guard !transport.isPlaying || !isSameStart || line != old.line else { return nil }
        // A pending start stays pending, even if an earlier boundary is now in the past because of a new tempo.
        start(notBefore: transport.isPlaying && isPending ? now : nil)
        // While outputs hold a tempo, the beats shown are still the session's.
        return newLink.state.isConnected && !isHolding ? .countFrom(top: line.time(ofTick: transport.startTick)) : nil
    }

    /// Starts the song at the first quantum boundary, or if alone at the first tick, after play was requested.
    private mutating func start(notBefore earliest: HostTime? = nil) {
        // A time that was converted through the session's beats may be off by a microsecond or two.
        let asked = link.state.timeForIsPlaying.advanced(byMicroseconds: -10)
        let tick = line.firstTick(atOrAfter: max(asked, earliest ?? asked))
        transport.isPlaying = true
        transport.startTick = link.state.isConnected ? boundary(atOrAfter: tick) : tick
    }

    /// Keeps the song's place when the grid has moved.
    ///
    /// Within one session the song keeps its beats, whatever happens to tempo and time. On another session's grid the
    /// beginning of the song moves to the nearest bar. If the beginning would then be in the future although the song
    /// plays, it moves back to the bar that has begun.
    private mutating func relocate(from old: TickLine, isNewGrid: Bool, at now: HostTime) {
        let bar = transport.ticksPerBar
        relocations &+= 1
        if isNewGrid, !line.isSameGrid(as: old) {
            let distance = transport.startTick - line.tickOrigin
            transport.startTick = line.tickOrigin + (distance + bar / 2).flooredToMultiple(of: bar)
        }
        let present = Int64(line.position(at: now).rounded(.down))
        if present < transport.startTick {
            transport.startTick = line.tickOrigin + (present - line.tickOrigin).flooredToMultiple(of: bar)
        }
    }

    /// The first tick, not before another one, that is on or right after a multiple of the quantum.
    private func boundary(atOrAfter tick: Int64) -> Int64 {
        guard quantum.microbeats > 0 else { return tick }
        // In millionths of a tick, and with 128 bits, because another peer's grid may begin very far away.
        let cycle = Int128(quantum.microbeats) * Int128(TickLine.ticksPerBeat)
        // If a boundary is between the previous tick and this one, this one counts as its tick.
        let distance = Int128(tick - 1 - line.tickOrigin) * 1_000_000 + 1
        let start = distance.dividedUp(by: cycle) * cycle
        return line.tickOrigin + Int64(truncatingIfNeeded: start.dividedUp(by: 1_000_000))
    }

    /// Ticks in a bar: the quantum's if it is a whole number of beats, otherwise those of one beat.
    private static func ticksPerBar(_ quantum: Beats) -> Int64 {
        let beats = quantum.microbeats / 1_000_000
        let isWhole = beats >= 1 && quantum.microbeats % 1_000_000 == 0
        return (isWhole ? beats : 1) * TickLine.ticksPerBeat
    }
}

extension TickLine {
    /// Whether ticks have the same times and numbers as on another line, apart from rounding.
    ///
    /// That is the case when the peer has founded a new session, which continues the old beats.
    fileprivate func isSameGrid(as other: TickLine) -> Bool {
        microsecondsPerBeat == other.microsecondsPerBeat && tickOrigin == other.tickOrigin
            && abs(timeOrigin.microseconds(to: other.timeOrigin)) <= 2
    }
}

extension Int128 {
    /// The quotient rounded up; the divisor must be positive.
    fileprivate func dividedUp(by divisor: Int128) -> Int128 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder > 0 ? quotient + 1 : quotient
    }

}

extension Int64 {
    /// The largest multiple of a positive number that is not above this one.
    fileprivate func flooredToMultiple(of step: Int64) -> Int64 {
        let remainder = self % step
        return self - (remainder < 0 ? remainder + step : remainder)
    }
}
