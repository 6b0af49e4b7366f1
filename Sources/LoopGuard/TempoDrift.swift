internal import BeatTime
internal import MIDIClock

/// Watches the tempo that we take from a leader for running away.
///
/// Two gateways that follow each other have no tempo of their own: each adds the way between them to what it hears, and
/// the tempo falls, or climbs, for ever.
struct TempoDrift: Sendable {
    /// Microseconds a beat, a mark for every beat, newest last.
    private var marks: [Double] = []
    private var nextMark: Int64?

    private static let interval = TickLine.ticksPerBeat
    /// Beats before the estimate is calm.
    private static let settling = 2
    /// Beats that the tempo must run: few where a loop is likely, more where a leader may simply be getting slower.
    private static let spans = (few: 4, many: 12)
    /// The least change over them, as a share of the tempo.
    private static let least = 0.002

    /// Takes in our newest line.
    ///
    /// - Parameters:
    ///   - line: where our ticks fall, as the leader's say.
    ///   - time: the present host time.
    ///   - isLikely: whether our clock is known to have a way to the leader.
    /// - Returns: whether the tempo keeps running in one direction.
    mutating func follow(_ line: TickLine, at time: HostTime, isLikely: Bool) -> Bool {
        let tick = line.nearestTick(to: time)
        guard let next = nextMark else {
            nextMark = tick + Self.interval * Int64(1 + Self.settling)
            return false
        }
        guard tick >= next else { return false }
        nextMark = tick + Self.interval
        marks.append(Double(line.microsecondsPerBeat))
        if marks.count > Self.spans.many + 1 { marks.removeFirst() }
        return hasRun(isLikely ? Self.spans.few : Self.spans.many)
    }

    /// Whether all steps but one in ten have gone in one direction.
    private func hasRun(_ span: Int) -> Bool {
        guard marks.count > span else { return false }
        let last = marks.suffix(span + 1)
        let steps = zip(last.dropFirst(), last).map { $0 - $1 }
        let total = steps.reduce(0, +)
        return abs(total) > Self.least * marks[marks.count - 1]
            && steps.count { $0 == 0 || ($0 > 0) != (total > 0) } <= span / 10
    }
}
