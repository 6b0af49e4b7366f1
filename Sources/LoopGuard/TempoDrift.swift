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

    /// Beats for which a leader may change its tempo in one direction: 24 bars.
    private static let longest = 96
    /// Beats until the estimate has settled.
    private static let settling: Int64 = 2

    /// Processes our newest line.
    ///
    /// - Parameters:
    ///   - line: where our ticks fall by the leader's clock.
    ///   - time: the present host time.
    ///   - isLikely: whether our clock is known to have a path to the leader.
    /// - Returns: whether the tempo keeps changing in one direction.
    mutating func follow(_ line: TickLine, at time: HostTime, isLikely: Bool) -> Bool {
        let tick = line.nearestTick(to: time)
        let next = nextMark ?? tick + TickLine.ticksPerBeat * Self.settling
        nextMark = tick < next ? next : tick + TickLine.ticksPerBeat
        guard tick >= next else { return false }
        marks = marks.suffix(Self.longest) + [Double(line.microsecondsPerBeat)]
        // Where a loop is likely, it may run away fast, or, if both smooth over many beats, slowly. Elsewhere a leader
        // simply changes its tempo, for many bars if that is automated.
        return isLikely ? hasRun(4, 0.002) || hasRun(24, 0.000_2) : hasRun(Self.longest, 0.002)
    }

    /// Whether all steps of so many beats but one in ten went in one direction, by this share of the tempo in total.
    private func hasRun(_ beats: Int, _ least: Double) -> Bool {
        guard marks.count > beats else { return false }
        let last = marks.suffix(beats + 1)
        let steps = zip(last.dropFirst(), last).map { $0 - $1 }
        let total = steps.reduce(0, +)
        return abs(total) > least * marks[marks.count - 1] && steps.count { $0 * total <= 0 } <= beats / 10
    }
}
