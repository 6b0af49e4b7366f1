internal import BeatTime
internal import MIDIClock

/// One source under the loop guard: its clocks, and what is known about them.
struct GuardedSource: Sendable {
    let source: ClockSource
    private(set) var verdict = LoopVerdict.untested
    private(set) var lastArrival: HostTime
    private(set) var path = LoopPath.unknown
    /// Ticks per toss in the probe that its present test needs; nil if there is none.
    private(set) var probeBlock: Int64?
    /// Whether it has passed its tests, and is not tested again.
    private var isTested = false
    /// Whether it was silent for long since it was found clear, and is to be tested again.
    private var hasPaused = false
    private var isFollowed = false
    private var clocks = PortClocks()
    private var drift = TempoDrift()
    /// Ticks until an excluded source is tested again, or one doubted without reason may be doubted again.
    private var rest = 0

    /// ``rest`` at its longest: 64 beats.
    private static let longRest = 1_536
    /// Ticks after which a coarse clock is followed, though the test is not over.
    private static let patience = 48
    /// Ticks in which a gateway that followed us reaches the tempo that we hold.
    private static let settling = 96

    init(_ source: ClockSource, at time: HostTime) { (self.source, lastArrival) = (source, time) }

    /// Whether it holds nothing worth remembering.
    var isIdle: Bool { clocks.arrivals == 0 && path.reason == nil }

    /// Whether it is probably a loop while the tests still run.
    var isLikelyLoop: Bool { verdict == .doubted || verdict == .suspected && path.isLikely }

    /// Processes a tick.
    ///
    /// - Parameters:
    ///   - time: when it arrived.
    ///   - map: where our ticks fall.
    ///   - isFollowed: whether our own ticks follow this source.
    ///   - question: the current probe, if any.
    mutating func received(at time: HostTime, on map: TempoMap, isFollowed: Bool, _ question: LoopQuestion?) {
        lastArrival = time
        rest = max(0, rest - 1)
        if isFollowed != self.isFollowed {
            self.isFollowed = isFollowed
            if verdict.isExcluded { drift = TempoDrift() } else { startOver() }
        }
        clocks.append(time, on: map, probing: probeBlock, question)
        if path.reason == nil { judge(at: time, map.line) }
    }

    /// Counts drift from here, because our outputs slew; not for a doubted source, whose drift shows whether it keeps its
    /// own tempo.
    mutating func restartDrift() { if verdict != .doubted { clocks.restartDrift() } }

    /// Hears its clocks anew, after a step of our grid.
    mutating func startOver() { (clocks, drift) = (PortClocks(), TempoDrift()) }

    /// Forgets everything but the path.
    mutating func forget() {
        startOver()
        (probeBlock, isTested, hasPaused) = (nil, false, false)
        verdict = path.reason.map(LoopVerdict.excluded) ?? .untested
    }

    /// Notes that it has been silent for long.
    ///
    /// Many leaders send their clock only while they play, and Start comes with its first tick. So a source that was clear
    /// stays so, and is tested again when it is heard.
    mutating func fellSilent() {
        guard verdict == .clear else { return forget() }
        startOver()
        (probeBlock, isTested, hasPaused) = (nil, false, true)
    }

    /// Notes the path that subscriptions give.
    mutating func pathChanged(to newPath: LoopPath) {
        let former = path
        path = newPath
        if former.reason != path.reason || path != former && hasPaused {
            forget()
        } else if path != former, path.isLikely, verdict == .clear, clocks.isInStep {
            suspect()
        }
    }

    private mutating func suspect() { (verdict, probeBlock) = (.suspected, 1) }

    private mutating func judge(at time: HostTime, _ line: TickLine) {
        let runsAway = isFollowed && drift.follow(line, at: time, isLikely: path.isLikely)
        if let probeBlock, clocks.isOurs {
            (verdict, self.probeBlock, rest) = (.excluded(probeBlock > 1 ? .regenerated : .echo), nil, Self.longRest)
            return clocks.restartDrift()
        }
        if runsAway, rest == 0 {
            (clocks, verdict, probeBlock) = (PortClocks(), .doubted, ProbeTest.longBlock)
        }
        let hasOwnRate = clocks.hasOwnRate(beside: line)
        switch verdict {
        case .excluded(let reason):
            if clocks.hasDrifted || clocks.isForeign {
                forget()
            } else if rest == 0, probeBlock == nil {
                probeBlock = reason == .echo ? 1 : ProbeTest.longBlock
            }
        case .doubted:
            // A real leader keeps its tempo; a gateway that follows us adopts the one we hold.
            guard clocks.arrivals > Self.settling, clocks.hasDrifted || clocks.isForeign else { return }
            (verdict, probeBlock, isTested, rest) = (.clear, nil, clocks.isForeign, Self.longRest)
        case .untested where hasOwnRate || clocks.isHeard && !clocks.isInStep: verdict = .clear
        case .untested: if clocks.isInStep { suspect() }
        case .suspected, .clear: judgeTest(hasOwnRate)
        }
    }

    private mutating func judgeTest(_ hasOwnRate: Bool) {
        guard clocks.isHeard else { return }
        if hasPaused {
            hasPaused = false
            guard clocks.isInStep, !hasOwnRate else { return }
            // One that has not begun to lead waits for the test like a new one.
            return isFollowed && !path.isLikely ? probeBlock = 1 : suspect()
        }
        guard let probeBlock else {
            if !isTested, isFollowed ? clocks.still > 1 : clocks.still > 0 && !hasOwnRate { suspect() }
            return
        }
        if !clocks.isInStep || hasOwnRate {
            (verdict, self.probeBlock) = (.clear, nil)
        } else if clocks.isForeign {
            isTested = probeBlock > 1 || verdict == .clear
            self.probeBlock = isTested ? nil : ProbeTest.longBlock
            // Without a known path a clock that follows ours is unlikely; the test for it goes on meanwhile.
            if isTested || !path.isLikely && !isFollowed { verdict = .clear }
        } else if probeBlock == 1, !path.isLikely, clocks.isCoarse, clocks.arrivals >= Self.patience {
            // Among so much noise the test may take minutes. What passes ticks on once an audio period or packet is
            // rare, but many leaders send so; the test goes on while it is followed.
            verdict = .clear
        }
    }
}
