internal import BeatTime
internal import MIDIClock

/// One source under the loop guard: what of it is in step with us, and what tests have said of that.
struct GuardedSource: Sendable {
    let source: ClockSource
    private(set) var verdict = LoopVerdict.untested
    private(set) var lastArrival: HostTime
    private(set) var path = LoopPath.unknown
    private var wasFollowed = false
    private var choir = PhaseChoir()
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
    var isIdle: Bool { choir.arrivals == 0 && path != .ownPort }

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
        if case .doubted = verdict { choir.arrivals < Self.settling } else { false }
    }

    /// Whether it is more likely than not a loop while that is still looked into.
    var isLikelyLoop: Bool {
        switch verdict {
        case .doubted: true
        case .suspected: path.isLikely || choir.evidence >= Self.suspicious
        case .clear: stage == .watching && choir.evidence >= Self.suspicious
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
        choir.append(time, on: map, question, prior: prior)
        if case .fenced = verdict { judgeFenced() } else { judge(at: time, map) }
    }

    private mutating func followingChanged(to isFollowed: Bool, at time: HostTime) {
        wasFollowed = isFollowed
        drift = TempoDrift()
        guard !verdict.isFenced else { return }
        choir.removeAll()
        if isFollowed, path.isLikely, !path.asksUs, verdict == .clear, stage == .listening { suspect(at: time) }
    }

    /// Our outputs glide: drift counts from here on, but for one that is let go and shows by drifting that it leads.
    mutating func settle() {
        if case .doubted = verdict { return }
        choir.settle()
    }

    /// Our grid has jumped, so nothing is where it was.
    mutating func gridJumped() {
        choir.removeAll()
        drift = TempoDrift()
    }

    /// Forgets everything but the path.
    mutating func forget() {
        choir.removeAll()
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
        } else if newPath.isLikely, verdict == .clear, choir.isInStep {
            suspect(at: time)
        }
    }

    private mutating func judge(at time: HostTime, _ map: TempoMap) {
        if let loop = choir.loop { return fence(loop) }
        let isRunning = wasFollowed && drift.follow(map.line, at: time, isLikely: path.isLikely)
        let isOurTurn = wasFollowed && path.answersUs && choir.arrivals >= Self.firstTurn
        if trust == 0, isRunning || isOurTurn {
            (verdict, stage) = (.doubted(since: time), .watching)
            return
        }
        switch verdict {
        case .untested:
            if choir.isForeign(to: map.line) || (choir.isHeard && !choir.isInStep) {
                verdict = .clear
            } else if choir.mayBeInStep {
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
        stage = .resting(until: choir.arrivals + (reason == .regenerated ? Self.shortRest : Self.longRest))
        choir.settle()
    }

    /// Whether the test that goes on has found nothing.
    private var isExcluded: Bool { choir.isExcluded(bySlowProbe: stage == .watching) }

    private mutating func judgeSuspect(_ line: TickLine) {
        guard choir.isHeard else { return }
        guard choir.isInStep, !choir.isForeign(to: line) else {
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
        if choir.arrivals == Self.settling { choir.settle() }
        let hasLeft = choir.hasLeft(line)
        guard choir.arrivals > 2 * Self.settling || hasLeft else { return }
        if hasLeft || !choir.isInStep {
            (verdict, stage, trust) = (.clear, .listening, Self.credit)
        } else if isExcluded {
            (verdict, stage, trust) = (.clear, .passed, Self.credit)
        }
    }

    private mutating func judgeClear(at time: HostTime, _ map: TempoMap) {
        if stage == .watching, choir.isHeard, !choir.isInStep || isExcluded {
            stage = choir.isInStep ? .passed : .listening
        }
        let isWorthTesting = wasFollowed ? choir.isDoubled : choir.isStill && !choir.isForeign(to: map.line)
        if stage == .listening, isWorthTesting { suspect(at: time) }
    }

    private mutating func judgeFenced() {
        guard verdict != .fenced(.ownPort) else { return }
        if choir.hasDrifted { return forget() }
        if case .resting(let end) = stage {
            guard choir.arrivals >= end else { return }
            stage = verdict == .fenced(.echo) ? .testing : .watching
        } else if choir.loop != nil {
            stage = .resting(until: choir.arrivals + Self.longRest)
        } else if choir.isInStep, isExcluded {
            forget()
        }
    }
}
