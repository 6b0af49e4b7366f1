internal import BeatTime
internal import MIDIClock

/// One source under the loop guard: what of it is in step with us, and what tests have said of that.
struct GuardedSource: Sendable {
    let source: ClockSource
    private(set) var verdict = LoopVerdict.untested
    private(set) var lastArrival: HostTime
    private var tracks: [PhaseTrack] = []
    private var arrivals = 0
    private var stage = Stage.listening
    var path = LoopPath.unknown

    /// What is done about it just now.
    private enum Stage: Hashable, Sendable {
        /// Nothing, but to see whether it is in step.
        case listening
        /// An echo of our ticks is looked for.
        case testing
        /// It was tested, and is no echo.
        case passed
    }

    /// The most clocks in one port that are told apart.
    private static let mostTracks = 4
    /// Arrivals after which a source must have been in step if it is.
    private static let hearing = 12
    /// Our ticks after which a track without arrivals is forgotten.
    private static let patience: Int64 = 12

    init(_ source: ClockSource, at time: HostTime) {
        self.source = source
        lastArrival = time
    }

    /// Whether nothing is lost by forgetting it.
    var isIdle: Bool { arrivals == 0 && path != .ownPort }

    /// Whether our outputs are to be asked.
    var wantsProbe: Bool { stage == .testing }

    /// Takes in a tick.
    ///
    /// - Parameters:
    ///   - time: when it came.
    ///   - map: where our ticks fall.
    ///   - isFollowed: whether our own ticks come from this source.
    ///   - question: what our outputs are being asked, if they are.
    mutating func received(at time: HostTime, on map: TempoMap, isFollowed: Bool, _ question: EchoTest?) {
        lastArrival = time
        arrivals += 1
        place(time, map, question)
        judge(at: time, isFollowed: isFollowed)
    }

    /// Our grid has jumped, so nothing is where it was.
    mutating func gridJumped() { tracks.removeAll() }

    /// Forgets everything but the path.
    mutating func forget() {
        tracks.removeAll()
        (arrivals, stage, verdict) = (0, .listening, path == .ownPort ? .fenced(.ownPort) : .untested)
    }

    /// Counts an arrival with the clock that it goes on, or begins another.
    private mutating func place(_ time: HostTime, _ map: TempoMap, _ question: EchoTest?) {
        let tickLength = Double(map.line.tickLength)
        var best: (index: Int, arrival: Residuals.Arrival, error: Double)?
        for index in tracks.indices {
            let arrival = Self.arrival(time, near: tracks[index].phase, map)
            let error = abs(arrival.distance - tracks[index].phase)
            guard arrival.tick > tracks[index].lastTick, error < 0.3 * tickLength, error < best?.error ?? .infinity
            else { continue }
            best = (index, arrival, error)
        }
        let newest = best?.arrival.tick ?? map.nearestTick(to: time)
        if let best {
            if tracks[best.index].probe != question?.probe { tracks[best.index].begin(question) }
            tracks[best.index].append(best.arrival)
            tracks[best.index].judge(amplitude: Double(max(1, Probe.amplitude(map.line))))
        } else if tracks.count < Self.mostTracks {
            var track = PhaseTrack(Self.arrival(time, near: 0, map))
            track.begin(question)
            tracks.append(track)
        }
        tracks.removeAll { $0.lastTick < newest &- Self.patience }
    }

    private static func arrival(_ time: HostTime, near phase: Double, _ map: TempoMap) -> Residuals.Arrival {
        let tick = map.nearestTick(to: time.advanced(byMicroseconds: -roundedToInteger(phase)))
        return Residuals.Arrival(tick: tick, distance: Double(map.time(ofTick: tick).microseconds(to: time)))
    }

    private mutating func judge(at time: HostTime, isFollowed: Bool) {
        switch verdict {
        case .fenced(.ownPort): break
        case .fenced:
            guard tracks.contains(where: \.hasDrifted), !tracks.contains(where: \.isInStep) else { return }
            forget()
        case .untested:
            if tracks.contains(where: \.mayBeInStep) {
                suspect(at: time)
            } else if arrivals >= Self.hearing, !tracks.contains(where: \.isInStep) {
                verdict = .clear
            }
        case .suspected: judgeSuspect()
        case .clear:
            if fenceEcho() { return }
            guard stage == .listening, !isFollowed else { return }
            if tracks.contains(where: { $0.isInStep && $0.isStill }) { suspect(at: time) }
        }
    }

    private mutating func suspect(at time: HostTime) {
        verdict = .suspected(since: time)
        stage = .testing
    }

    private mutating func judgeSuspect() {
        if fenceEcho() { return }
        guard arrivals >= Self.hearing else { return }
        let inStep = tracks.filter(\.isInStep)
        guard inStep.allSatisfy({ $0.outcome == .noEcho }) else { return }
        (verdict, stage) = (.clear, inStep.isEmpty ? .listening : .passed)
    }

    /// Fences the source if a test has found an echo in it.
    private mutating func fenceEcho() -> Bool {
        guard tracks.contains(where: { $0.outcome == .echo }) else { return false }
        (verdict, stage) = (.fenced(.echo), .passed)
        for index in tracks.indices { tracks[index].settle() }
        return true
    }
}
