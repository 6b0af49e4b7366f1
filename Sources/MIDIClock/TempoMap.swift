public import BeatTime

/// Where ticks fall now and in the recent past, and how the grid has moved.
///
/// A change of tempo leaves the ticks before it where they were. An output that sends half a second late thus still
/// sends them there. Small moves of the whole grid are counted separately: the lines make them at once, and each
/// output slews after them at its own pace. The counts are running totals, so skipping a map loses nothing.
///
/// ```swift
/// let beat = HostTime(microseconds: 500_000)
/// let slow = TickLine(microsecondsPerBeat: 500_000, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)
/// var map = TempoMap(slow)
/// map.changeTempo(to: TickLine(microsecondsPerBeat: 400_000, timeOrigin: beat, tickOrigin: 24), at: beat)
/// assert(map.time(ofTick: 12) == HostTime(microseconds: 250_000))
/// assert(map.time(ofTick: 48) == HostTime(microseconds: 900_000))
/// ```
public struct TempoMap: Sendable, BitwiseCopyable {
    /// The newest line.
    public private(set) var line: TickLine
    /// The newest line applies from this time on.
    private var since = HostTime(microseconds: .min)
    /// The previous lines, newest first.
    private var former = InlineArray<32, Segment>(
        repeating: Segment(
            line: TickLine(microsecondsPerBeat: 500_000, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0),
            since: HostTime(microseconds: .min)))
    private var formerCount = 0
    /// How often the tempo has changed.
    public private(set) var tempoChanges: UInt32 = 0
    /// Sum of all small moves of the grid, in microseconds, later being positive; outputs slew after it.
    public private(set) var slewed: Int64 = 0
    /// Number of steps of the grid, too far to slew; outputs relocate.
    public private(set) var steps: UInt32 = 0
    /// ``slewed`` at the newest step; outputs slew only over what came after it.
    private(set) var slewedAtStep: Int64 = 0
    /// How far, in microseconds, outputs may be from a leader's grid without hurrying; nil for a session's grid.
    ///
    /// Outputs slew after a leader over up to half a beat, since its ticks may be found late to have another tempo.
    /// After a session they slew over up to half a tick, and step beyond that.
    public var tolerance: Int64?

    private struct Segment: Sendable, BitwiseCopyable {
        var line: TickLine
        var since: HostTime
    }

    /// A map with one tempo for all time.
    public init(_ line: TickLine) { self.line = line }

    /// Changes the tempo.
    ///
    /// - Parameters:
    ///   - newLine: where ticks fall from now on.
    ///   - time: when the change took effect; ticks before it stay where they were.
    public mutating func changeTempo(to newLine: TickLine, at time: HostTime) {
        for index in stride(from: former.count - 1, to: 0, by: -1) { former[index] = former[index - 1] }
        former[0] = Segment(line: line, since: since)
        formerCount = min(formerCount + 1, former.count)
        (line, since) = (newLine, max(since, time))
        tempoChanges &+= 1
    }

    /// Moves the whole grid, past and present, by a little; outputs slew after it.
    ///
    /// - Parameter microseconds: positive is later.
    public mutating func slew(byMicroseconds microseconds: Int64) {
        line.timeOrigin = line.timeOrigin.advanced(byMicroseconds: microseconds)
        if since.microseconds != .min { since = since.advanced(byMicroseconds: microseconds) }
        for index in 0..<formerCount {
            former[index].line.timeOrigin = former[index].line.timeOrigin.advanced(byMicroseconds: microseconds)
            guard former[index].since.microseconds != .min else { continue }
            former[index].since = former[index].since.advanced(byMicroseconds: microseconds)
        }
        slewed &+= microseconds
    }

    /// Replaces the newest line by one with the same ticks at the same times, apart from rounding.
    public mutating func restate(_ sameLine: TickLine) { line = sameLine }

    /// Starts over on another grid; outputs step to it.
    public mutating func step(to newLine: TickLine) {
        line = newLine
        since = HostTime(microseconds: .min)
        formerCount = 0
        steps &+= 1
        slewedAtStep = slewed
    }

    /// When a place is reached, without any output's offset.
    public func time(of place: TickPlace) -> HostTime {
        let time = line.time(of: place)
        guard time < since, formerCount > 0 else { return time }
        var end = since
        for index in 0..<formerCount {
            let earlier = former[index].line.time(of: place)
            if earlier >= former[index].since { return min(earlier, end) }
            end = former[index].since
        }
        return min(former[formerCount - 1].line.time(of: place), end)
    }

    /// When a tick falls, without any output's offset.
    public func time(ofTick tick: Int64) -> HostTime { time(of: TickPlace(tick: tick)) }

    /// The tempo at a place, in microseconds per beat.
    func microsecondsPerBeat(at place: TickPlace) -> Int64 {
        guard formerCount > 0, line.time(of: place) < since else { return line.microsecondsPerBeat }
        let index = (0..<formerCount).first { former[$0].line.time(of: place) >= former[$0].since }
        return former[index ?? formerCount - 1].line.microsecondsPerBeat
    }

    /// The first tick at or after a time.
    func firstTick(atOrAfter time: HostTime) -> Int64 {
        guard time < since, formerCount > 0 else { return line.firstTick(atOrAfter: time) }
        let index = (0..<formerCount).first { former[$0].since <= time } ?? formerCount - 1
        return former[index].line.firstTick(atOrAfter: time)
    }

    /// The tick nearest to a time.
    public func nearestTick(to time: HostTime) -> Int64 {
        let next = firstTick(atOrAfter: time)
        let (before, after) = (self.time(ofTick: next - 1), self.time(ofTick: next))
        return before.microseconds(to: time) < time.microseconds(to: after) ? next - 1 : next
    }

    /// A recent change of tempo.
    ///
    /// - Parameter number: value of ``tempoChanges`` after the change.
    /// - Returns: when it took effect, and how much longer a beat was before, as a share of its new length.
    func tempoChange(_ number: UInt32) -> (at: HostTime, stretch: Double)? {
        let age = Int(tempoChanges &- number)
        guard age < formerCount else { return nil }
        let (after, start) = age == 0 ? (line, since) : (former[age - 1].line, former[age - 1].since)
        let before = former[age].line
        let stretch = Double(before.microsecondsPerBeat) / Double(after.microsecondsPerBeat) - 1
        return (start, stretch)
    }
}

/// A place on the numbered ticks: a tick, plus millionths of a tick.
///
/// ```swift
/// assert(TickPlace(tick: 3, millionths: 500_000) < TickPlace(tick: 4))
/// ```
public struct TickPlace: Hashable, Comparable, Sendable, BitwiseCopyable {
    public var tick: Int64
    /// 0 to 999 999.
    public var millionths: Int64

    public init(tick: Int64, millionths: Int64 = 0) {
        self.tick = tick
        self.millionths = millionths
    }

    public static func < (left: TickPlace, right: TickPlace) -> Bool {
        (left.tick, left.millionths) < (right.tick, right.millionths)
    }
}

extension TickLine {
    /// When a place is reached, rounded up to a microsecond.
    public func time(of place: TickPlace) -> HostTime {
        guard place.millionths > 0 else { return time(ofTick: place.tick) }
        let distance = (place.tick - tickOrigin) &* microsecondsPerBeat
        let whole = distance.floorDivided(by: Self.ticksPerBeat)
        let rest = (distance - whole * Self.ticksPerBeat) * 1_000_000 + place.millionths * microsecondsPerBeat
        return timeOrigin.advanced(byMicroseconds: whole - (-rest).floorDivided(by: Self.ticksPerBeat * 1_000_000))
    }
}
