internal import BeatTime
internal import MIDIClock

/// Watches the tempo that we take from a leader for running away.
///
/// Two gateways that follow each other have no tempo of their own: each adds the way between them to what it hears, and
/// the tempo falls, or climbs, for ever.
struct TempoDrift: Sendable {
    private var marks: [Double] = []
    private var nextMark: Int64?

    private static let interval: Int64 = 48
    /// Marks before the estimate is calm.
    private static let settling = 4
    /// Steps in a row in one direction.
    private static let steps = 4
    /// The least change over them, as a share of the tempo.
    private static let least = 0.001

    /// Takes in our newest line.
    ///
    /// - Parameters:
    ///   - line: where our ticks fall, as the leader's say.
    ///   - time: the present host time.
    /// - Returns: whether the tempo has run in one direction for eight beats.
    mutating func follow(_ line: TickLine, at time: HostTime) -> Bool {
        let tick = line.nearestTick(to: time)
        guard let next = nextMark else {
            nextMark = tick + Self.interval
            return false
        }
        guard tick >= next else { return false }
        nextMark = tick + Self.interval
        marks.append(Double(line.microsecondsPerBeat))
        guard marks.count > Self.settling + Self.steps else { return false }
        marks.removeFirst(marks.count - Self.settling - Self.steps - 1)
        let last = marks.suffix(Self.steps + 1)
        let changes = zip(last.dropFirst(), last).map { $0 - $1 }
        let total = changes.reduce(0, +)
        return changes.allSatisfy { ($0 > 0) == (total > 0) && $0 != 0 }
            && abs(total) > Self.least * marks[marks.count - 1]
    }
}
