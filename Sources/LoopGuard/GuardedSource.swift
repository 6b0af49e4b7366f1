internal import BeatTime
internal import MIDIClock

/// One source under the loop guard: its clocks, and what is known about them.
struct GuardedSource: Sendable {
    let source: ClockSource
    private(set) var verdict = LoopVerdict.untested
    private(set) var lastArrival: HostTime
    private(set) var path = LoopPath.unknown
    private var isFollowed = false
    private var clocks = PortClocks()
    private var stage = Stage.listening
    private var drift = TempoDrift()
    /// Ticks until a fenced source is tested again, or one doubted without reason may be doubted again.
    private var rest = 0

    /// What is being done about the source.
    private enum Stage: Hashable, Sendable {
        /// Only checking whether it is in step.
        case listening
        case testing(blockLength: Int64)
        /// Tested, for now.
        case done
    }

    private static let longRest = 1_536
    /// Ticks after which a coarse clock is followed, though the test is not over.
    private static let patience = 48
    /// Odds from which a warning is given.
    private static let suspicious = 1_000.0

    init(_ source: ClockSource, at time: HostTime) {
        self.source = source
        lastArrival = time
    }

    /// Whether it holds nothing worth remembering.
    var isIdle: Bool { clocks.arrivals == 0 && path.reason == nil }

    /// Ticks per toss in the probe it needs; nil if it needs none.
    var probeBlock: Int64? { if case .testing(let blockLength) = stage { blockLength } else { nil } }

    /// Whether it is probably a loop while the tests still run.
    var isLikelyLoop: Bool {
        switch verdict {
        case .doubted: true
        case .suspected: path.isLikely || clocks.odds >= Self.suspicious
        case .clear: clocks.odds >= Self.suspicious
        case .untested, .fenced: false
        }
    }

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
            if verdict.isFenced { drift = TempoDrift() } else { startOver() }
        }
        clocks.append(time, on: map, probing: probeBlock, question)
        judge(at: time, map.line)
    }

    /// Counts drift from here, because our outputs glide.
    ///
    /// A source that was let go is exempt: its drift shows that it leads.
    mutating func settle() { if verdict != .doubted { clocks.settle() } }

    /// Hears its clocks anew, after a jump of our grid.
    mutating func startOver() { (clocks, drift) = (PortClocks(), TempoDrift()) }

    /// Forgets everything but the path.
    mutating func forget() {
        startOver()
        (stage, verdict) = (.listening, path.reason.map(LoopVerdict.fenced) ?? .untested)
    }

    /// Notes the path that subscriptions give.
    mutating func pathChanged(to newPath: LoopPath) {
        guard newPath != path else { return }
        let hadReason = path.reason != nil
        path = newPath
        if hadReason || path.reason != nil {
            forget()
        } else if path.isLikely, verdict == .clear, clocks.isInStep {
            suspect()
        }
    }

    private mutating func suspect() { (verdict, stage) = (.suspected, .testing(blockLength: 1)) }

    private mutating func judge(at time: HostTime, _ line: TickLine) {
        guard path.reason == nil else { return }
        let isRunning = isFollowed && drift.follow(line, at: time, isLikely: path.isLikely)
        if clocks.isOurs, let probeBlock {
            (verdict, stage, rest) = (.fenced(probeBlock > 1 ? .regenerated : .echo), .done, Self.longRest)
            return clocks.settle()
        }
        if isRunning, rest == 0 {
            clocks = PortClocks()
            (verdict, stage) = (.doubted, .testing(blockLength: ProbeTest.longBlock))
        }
        switch verdict {
        case .untested:
            if clocks.hasOwnRate(beside: line) || (clocks.isHeard && !clocks.isInStep) {
                verdict = .clear
            } else if clocks.mayBeInStep {
                suspect()
            }
        case .suspected, .clear: judgeTest(line)
        case .doubted:
            // A real leader keeps its tempo; a gateway that follows us adopts the one we hold.
            guard clocks.hasLeft(line) || clocks.isForeign else { return }
            (verdict, stage, rest) = (.clear, .listening, Self.longRest)
        case .fenced(let reason):
            if clocks.hasDrifted || clocks.isForeign {
                forget()
            } else if stage == .done, rest == 0 {
                stage = .testing(blockLength: reason == .echo ? 1 : ProbeTest.longBlock)
            }
        }
    }

    private mutating func judgeTest(_ line: TickLine) {
        guard clocks.isHeard else { return }
        let hasOwnRate = clocks.hasOwnRate(beside: line)
        if stage == .listening {
            if isFollowed ? clocks.still > 1 : clocks.still > 0 && !hasOwnRate { suspect() }
        } else if stage == .done {
            return
        } else if !clocks.isInStep || hasOwnRate {
            (verdict, stage) = (.clear, .listening)
        } else if clocks.isForeign {
            stage = probeBlock == 1 ? .testing(blockLength: ProbeTest.longBlock) : .done
            // Without a known path a clock that follows ours is unlikely; the test for it goes on meanwhile.
            if stage == .done || !path.isLikely && !isFollowed { verdict = .clear }
        } else if probeBlock == 1, !path.isLikely, clocks.isCoarse, clocks.arrivals >= Self.patience {
            // Among so much noise the test may take minutes. What passes ticks on once an audio period or packet is
            // rare, but many leaders send so; the test goes on while it is followed.
            verdict = .clear
        }
    }
}
