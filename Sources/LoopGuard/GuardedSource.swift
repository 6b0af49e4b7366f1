internal import BeatTime
internal import MIDIClock

/// One source under the loop guard: its clocks that are in step with ours, and test results.
struct GuardedSource: Sendable {
    let source: ClockSource
    private(set) var verdict = LoopVerdict.untested
    private(set) var lastArrival: HostTime
    private(set) var path = LoopPath.unknown
    private var wasFollowed = false
    private var clusters = PhaseClusters()
    private var stage = Stage.listening
    private var drift = TempoDrift()
    /// Ticks for which it is not doubted again, since it has kept its own tempo without us.
    private var trust = 0

    /// What is being done about the source.
    private enum Stage: Hashable, Sendable {
        /// Only checking whether it is in step.
        case listening
        /// Testing for an echo of our ticks.
        case testing
        /// Testing for a clock that follows ours.
        case watching
        /// Both tests found nothing.
        case passed
        /// It is fenced, until it has sent this many ticks.
        case resting(until: Int)
    }

    /// Ticks until a fenced source is tested again; fewer if only a slow probe found it.
    private static let (longRest, shortRest) = (1_536, 96)
    /// Ticks in which a gateway that followed us reaches the tempo that we hold.
    private static let settling = 72
    /// Ticks for which a leader is trusted after it was doubted without reason.
    private static let credit = 1_536
    /// Ticks after which a coarse clock is followed, though the test is not over.
    private static let patience = 48
    /// Odds from which a warning is given.
    private static let suspicious = 100.0

    init(_ source: ClockSource, at time: HostTime) {
        self.source = source
        lastArrival = time
    }

    /// Whether it holds nothing worth remembering.
    var isIdle: Bool { clusters.arrivals == 0 && path.reason == nil }

    /// Ticks per toss in the probe it needs; nil if it needs none.
    var probeBlock: Int64? {
        switch stage {
        case .testing: 1
        // A source that was let go needs time to reach the tempo we hold.
        case .watching: isSettling ? nil : RegenerationTest.blockLength
        case .listening, .passed, .resting: nil
        }
    }

    /// The odds for a loop before any test.
    ///
    /// A tempo that ran away while we followed, and stands still since we stopped, is no coincidence.
    private var prior: Double {
        if case .doubted = verdict { 10 } else { 1 }
    }

    private var isSettling: Bool {
        if case .doubted = verdict { clusters.arrivals < Self.settling } else { false }
    }

    /// Whether it is probably a loop while the tests still run.
    var isLikelyLoop: Bool {
        switch verdict {
        case .doubted: true
        case .suspected: path.isLikely || clusters.evidence >= Self.suspicious
        case .clear: stage == .watching && clusters.evidence >= Self.suspicious
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
        if isFollowed != wasFollowed {
            followingChanged(to: isFollowed, at: time)
        }
        trust = max(0, trust - 1)
        clusters.append(time, on: map, question, prior: prior)
        if case .fenced = verdict { judgeFenced() } else { judge(at: time, map) }
    }

    private mutating func followingChanged(to isFollowed: Bool, at time: HostTime) {
        wasFollowed = isFollowed
        drift = TempoDrift()
        guard !verdict.isFenced else { return }
        clusters.removeAll()
        if isFollowed, path.isLikely, verdict == .clear, stage == .listening { suspect(at: time) }
    }

    /// Counts drift from here, because our outputs glide.
    ///
    /// A source that was let go is exempt: its drift shows that it leads.
    mutating func settle() {
        if case .doubted = verdict { return }
        clusters.settle()
    }

    /// Starts over after a jump of our grid.
    mutating func gridJumped() {
        clusters.removeAll()
        drift = TempoDrift()
    }

    /// Forgets everything but the path.
    mutating func forget() {
        clusters.removeAll()
        drift = TempoDrift()
        (stage, verdict) = (.listening, path.reason.map(LoopVerdict.fenced) ?? .untested)
    }

    /// Notes the path that subscriptions give.
    mutating func pathChanged(to newPath: LoopPath, at time: HostTime) {
        guard newPath != path else { return }
        let hadReason = path.reason != nil
        path = newPath
        if hadReason || newPath.reason != nil {
            forget()
        } else if newPath.isLikely, verdict == .clear, clusters.isInStep {
            suspect(at: time)
        }
    }

    private mutating func judge(at time: HostTime, _ map: TempoMap) {
        if let loop = clusters.loop { return fence(loop) }
        let isRunning = wasFollowed && drift.follow(map.line, at: time, isLikely: path.isLikely)
        if trust == 0, isRunning {
            (verdict, stage) = (.doubted(since: time), .watching)
            return
        }
        switch verdict {
        case .untested:
            if clusters.isForeign(to: map.line) || (clusters.isHeard && !clusters.isInStep) {
                verdict = .clear
            } else if clusters.mayBeInStep {
                suspect(at: time)
            }
        case .suspected: judgeSuspect(map.line)
        case .doubted: judgeDoubted(map.line)
        case .clear: judgeClear(at: time, map)
        case .fenced: break
        }
    }

    private mutating func suspect(at time: HostTime) {
        (verdict, stage) = (.suspected(since: time), .testing)
    }

    private mutating func fence(_ reason: LoopReason) {
        verdict = .fenced(reason)
        stage = .resting(until: clusters.arrivals + (reason == .regenerated ? Self.shortRest : Self.longRest))
        clusters.settle()
    }

    /// Whether the current test has found nothing.
    private var isExcluded: Bool { clusters.isExcluded(bySlowProbe: stage == .watching) }

    private mutating func judgeSuspect(_ line: TickLine) {
        guard clusters.isHeard else { return }
        guard clusters.isInStep, !clusters.isForeign(to: line) else {
            (verdict, stage) = (.clear, .listening)
            return
        }
        guard isExcluded else {
            // Among so much noise the test may take minutes. What passes ticks on once an audio period or packet is rare,
            // but many leaders send so; the test goes on while it is followed.
            let isRareEcho = stage == .testing && !path.isLikely && clusters.isCoarse
            if isRareEcho, clusters.arrivals >= Self.patience { verdict = .clear }
            return
        }
        if stage == .watching {
            (verdict, stage) = (.clear, .passed)
        } else {
            stage = .watching
            // Without a known path a clock that follows ours is unlikely; test for it only while the source may be
            // followed.
            if !path.isLikely, !wasFollowed { verdict = .clear }
        }
    }

    /// Judges a source while the tempo is held: a real leader keeps its tempo, a gateway that follows us adopts ours.
    private mutating func judgeDoubted(_ line: TickLine) {
        // At first it still follows our earlier, changing tempo.
        if clusters.arrivals == Self.settling { clusters.settle() }
        let hasLeft = clusters.hasLeft(line)
        guard clusters.arrivals > 2 * Self.settling || hasLeft else { return }
        if hasLeft || !clusters.isInStep {
            (verdict, stage, trust) = (.clear, .listening, Self.credit)
        } else if isExcluded {
            (verdict, stage, trust) = (.clear, .passed, Self.credit)
        }
    }

    private mutating func judgeClear(at time: HostTime, _ map: TempoMap) {
        if stage == .watching || stage == .testing, clusters.isHeard, !clusters.isInStep || isExcluded {
            stage = clusters.isInStep ? .passed : .listening
        }
        let isWorthTesting = wasFollowed ? clusters.isDoubled : clusters.isStill && !clusters.isForeign(to: map.line)
        if stage == .listening, isWorthTesting { suspect(at: time) }
    }

    private mutating func judgeFenced() {
        guard path.reason == nil else { return }
        if clusters.hasDrifted { return forget() }
        if case .resting(let end) = stage {
            guard clusters.arrivals >= end else { return }
            stage = verdict == .fenced(.echo) ? .testing : .watching
        } else if clusters.loop != nil {
            stage = .resting(until: clusters.arrivals + Self.longRest)
        } else if clusters.isInStep, isExcluded {
            forget()
        }
    }
}
