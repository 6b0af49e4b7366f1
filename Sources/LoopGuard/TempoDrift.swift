internal import BeatTime
internal import MIDIClock

/// Detects that the tempo taken from a leader runs away.
///
/// Two gateways that follow each other have no tempo of their own. Each adds the delay between them to what it hears,
/// so the tempo falls, or climbs, without end.
struct TempoDrift: Sendable {
    /// Microseconds per beat, one mark for each beat, newest last.
    private var marks: [Double] = []
    private var nextMark: Int64?

    private static let interval = TickLine.ticksPerBeat
    /// Beats until the estimate has settled.
    private static let settling = 2
    /// So many beats of steady change are required, and so much change in total, as a share of the tempo.
    private struct Run {
        var beats: Int
        var least: Double
    }

    /// Where a loop is likely: it may run away fast, or, if both smooth over many beats, slowly.
    private static let likely = [Run(beats: 4, least: 0.002), Run(beats: 24, least: 0.000_2)]
    /// Where a leader may simply be slowing down.
    private static let unlikely = [Run(beats: 12, least: 0.002)]
    /// Most marks needed.
    private static let most = 25

    /// Processes our newest line.
    ///
    /// - Parameters:
    ///   - line: where our ticks fall by the leader's clock.
    ///   - time: the present host time.
    ///   - isLikely: whether our clock is known to have a path to the leader.
    /// - Returns: whether the tempo keeps changing in one direction.
    mutating func follow(_ line: TickLine, at time: HostTime, isLikely: Bool) -> Bool {
        let tick = line.nearestTick(to: time)
        guard let next = nextMark else {
            nextMark = tick + Self.interval * Int64(1 + Self.settling)
            return false
        }
        guard tick >= next else { return false }
        nextMark = tick + Self.interval
        marks.append(Double(line.microsecondsPerBeat))
        if marks.count > Self.most { marks.removeFirst() }
        return (isLikely ? Self.likely : Self.unlikely).contains(where: hasRun)
    }

    /// Whether all steps but one in ten went in one direction.
    private func hasRun(_ run: Run) -> Bool {
        guard marks.count > run.beats else { return false }
        let last = marks.suffix(run.beats + 1)
        let steps = zip(last.dropFirst(), last).map { $0 - $1 }
        let total = steps.reduce(0, +)
        return abs(total) > run.least * marks[marks.count - 1]
            && steps.count { $0 == 0 || ($0 > 0) != (total > 0) } <= run.beats / 10
    }
}
