internal import BeatTime
internal import MIDIClock

/// One source under the loop guard: what of it is in step with us, and what tests have said of that.
struct GuardedSource: Sendable {
    let source: ClockSource
    private(set) var verdict = LoopVerdict.untested
    private(set) var lastArrival: HostTime
    private(set) var path = LoopPath.unknown
    private var wasFollowed = false
    private var clusters = PhaseClusters()
    private var stage = Stage.listening
    private var drift = TempoDrift()
    /// Ticks that it need not be doubted again, since it has gone on without us.
    private var trust = 0

    /// What is done about it just now.
    private enum Stage: Hashable, Sendable {
        /// Nothing, but to see whether it is in step.
        case listening
        /// An echo of our ticks is looked for.
        case testing
        /// A clock made after ours is looked for.
        case watching
        /// Both were looked for, and not found.
        case passed
        /// It is fenced, and looked at again when it has sent so many ticks.
        case resting(until: Int)
    }

    /// Ticks after which a fenced source is looked at again; sooner if it was found out by a slow probe alone.
    private static let (longRest, shortRest) = (1_536, 96)
    /// Ticks in which a gateway that followed us comes to the tempo that we hold.
    private static let settling = 36
    /// Ticks for which another gateway is followed until it is let go, to see whether it follows us.
    private static let firstTurn = 48
    /// Ticks for which a leader that was doubted without reason is trusted.
    private static let credit = 1_536
    /// Odds that are worth a warning.
    private static let suspicious = 100.0

    init(_ source: ClockSource, at time: HostTime) {
        self.source = source
        lastArrival = time
    }

    /// Whether nothing is lost by forgetting it.
    var isIdle: Bool { clusters.arrivals == 0 && path != .ownPort }

    /// Ticks that share a toss in the probe it needs; nil if it needs none.
    var probeBlock: Int64? {
        switch stage {
        case .testing: 1
        // One that is let go needs a moment to come to the tempo we hold.
        case .watching: isSettling ? nil : RegenerationTest.blockLength
        case .listening, .passed, .resting: nil
        }
    }

    /// The odds for a loop before any test: a tempo that ran while we followed and stands since we let go is no chance.
    private var prior: Double {
        if case .doubted = verdict { 10 } else { 1 }
    }

    private var isSettling: Bool {
        if case .doubted = verdict { clusters.arrivals < Self.settling } else { false }
    }

    /// Whether it is more likely than not a loop while that is still looked into.
    var isLikelyLoop: Bool {
        switch verdict {
        case .doubted: true
        case .suspected: path.isLikely || clusters.evidence >= Self.suspicious
        case .clear: stage == .watching && clusters.evidence >= Self.suspicious
        case .untested, .fenced: false
        }
    }

    /// Takes in a tick.
    ///
    /// - Parameters:
    ///   - time: when it came.
    ///   - map: where our ticks fall.
    ///   - isFollowed: whether our own ticks come from this source.
    ///   - question: what is being asked, if anything is.
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
        if isFollowed, path.isLikely, !path.asksUs, verdict == .clear, stage == .listening { suspect(at: time) }
    }

    /// Our outputs glide: drift counts from here on, but for one that is let go and shows by drifting that it leads.
    mutating func settle() {
        if case .doubted = verdict { return }
        clusters.settle()
    }

    /// Our grid has jumped, so nothing is where it was.
    mutating func gridJumped() {
        clusters.removeAll()
        drift = TempoDrift()
    }

    /// Forgets everything but the path.
    mutating func forget() {
        clusters.removeAll()
        drift = TempoDrift()
        (stage, verdict) = (.listening, path == .ownPort ? .fenced(.ownPort) : .untested)
    }

    /// Takes note of what the subscriptions say.
    mutating func pathChanged(to newPath: LoopPath, at time: HostTime) {
        guard newPath != path else { return }
        let wasOwn = path == .ownPort
        path = newPath
        if wasOwn || newPath == .ownPort {
            forget()
        } else if newPath.isLikely, verdict == .clear, clusters.isInStep {
            suspect(at: time)
        }
    }

    private mutating func judge(at time: HostTime, _ map: TempoMap) {
        if let loop = clusters.loop { return fence(loop) }
        let isRunning = wasFollowed && drift.follow(map.line, at: time, isLikely: path.isLikely)
        let isOurTurn = wasFollowed && path.answersUs && clusters.arrivals >= Self.firstTurn
        if trust == 0, isRunning || isOurTurn {
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

    /// Whether the test that goes on has found nothing.
    private var isExcluded: Bool { clusters.isExcluded(bySlowProbe: stage == .watching) }

    private mutating func judgeSuspect(_ line: TickLine) {
        guard clusters.isHeard else { return }
        guard clusters.isInStep, !clusters.isForeign(to: line) else {
            (verdict, stage) = (.clear, .listening)
            return
        }
        guard isExcluded else { return }
        if stage == .watching {
            (verdict, stage) = (.clear, .passed)
        } else {
            stage = .watching
            // With no way known a clock made after ours is unlikely: look for it while it may be followed.
            if !path.isLikely, !wasFollowed { verdict = .clear }
        }
    }

    /// The tempo is held: a leader of its own goes on, and a gateway that follows us comes to our tempo.
    private mutating func judgeDoubted(_ line: TickLine) {
        // What it does at first is still what it made of our running tempo.
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
        if stage == .watching, clusters.isHeard, !clusters.isInStep || isExcluded {
            stage = clusters.isInStep ? .passed : .listening
        }
        let isWorthTesting = wasFollowed ? clusters.isDoubled : clusters.isStill && !clusters.isForeign(to: map.line)
        if stage == .listening, isWorthTesting { suspect(at: time) }
    }

    private mutating func judgeFenced() {
        guard verdict != .fenced(.ownPort) else { return }
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
