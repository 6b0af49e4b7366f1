internal import MIDIClock

/// A tick of the clock that is measured: its number, and when it came in microseconds.
struct Tick: Hashable {
    var number: Int64
    var time: Int64
}

/// What is counted: how many of them are measured together.
struct PulseKind: Hashable, Sendable {
    /// How many are measured against one line; slower wander than this is left in the line.
    let block: Int
    /// The fewest that make a line worth measuring against.
    let fewest: Int

    /// Ticks of a MIDI clock, four beats of them: any swing inside the clock repeats within that.
    static let ticks = PulseKind(block: 96, fewest: 24)
    /// Sounds, about one to a beat: few enough that a recording of ten seconds can be measured.
    static let sounds = PulseKind(block: 16, fewest: 8)
}

/// Successive ticks, and the straight line that most of them are on.
///
/// The line is that of least squares through all ticks but those much farther away than nine of ten are, so a few that
/// come late after a stall do not bend it.
struct TickBlock {
    private let kind: PulseKind
    let ticks: [Tick]
    /// Microseconds from one tick to the next.
    private(set) var period: Double
    /// Standard deviation of ``period``.
    private(set) var periodDeviation: Double
    /// Standard deviation of those ticks that the line goes through.
    private(set) var spread: Double
    /// What the line gives the first tick's time, in microseconds after its stamp.
    private var offset: Double

    /// Ticks farther from the line than so many deviations do not bend it.
    private static let gate = 5.0
    /// Two lines that part by less than this over a block, in microseconds, are of one tempo: coarse timers make as much.
    private static let sameLine = 2_000.0
    /// Two lines that part by less than so many deviations are of one tempo, too.
    private static let sameLineDeviations = 4.5

    /// Lays the line; there is none through fewer ticks than are worth it, or if they are no succession.
    init?(_ ticks: [Tick], of kind: PulseKind = .ticks) {
        // If more are lost in between than three of four, they are no succession.
        guard ticks.count >= kind.fewest, ticks[ticks.count - 1].number &- ticks[0].number < 4 * kind.block,
            let rough = Self.roughPeriod(ticks), rough > 0
        else { return nil }
        self.kind = kind
        self.ticks = ticks
        (period, offset, periodDeviation, spread) = (rough, 0, 0, 0)
        offset = Self.median(ticks.map(error)) ?? 0
        for _ in 0..<2 { refine() }
        guard period > 0 else { return nil }
    }

    /// By how much a tick came later than the line has it, in microseconds.
    func error(of tick: Tick) -> Double {
        Double(tick.time &- ticks[0].time) - offset - period * Double(tick.number &- ticks[0].number)
    }

    /// Whether the line goes through a tick, as opposed to one that comes far too late or too early.
    func isNear(_ tick: Tick) -> Bool { abs(error(of: tick)) <= Self.gate * max(1, spread) }

    /// Whether the next block goes on at the same tempo, and in step.
    func isContinued(by next: TickBlock) -> Bool {
        let deviation = (periodDeviation * periodDeviation + next.periodDeviation * next.periodDeviation).squareRoot()
        let parting = abs(next.period - period) * Double(kind.block)
        guard parting <= max(Self.sameLine, Self.sameLineDeviations * deviation * Double(kind.block)) else {
            return false
        }
        let first = next.ticks[0]
        return abs(error(of: first) - next.error(of: first)) < period / 2
    }

    private static func roughPeriod(_ ticks: [Tick]) -> Double? {
        let half = ticks.count / 2
        let slopes = (0..<(ticks.count - half)).compactMap { index -> Double? in
            let (first, second) = (ticks[index], ticks[index + half])
            let distance = second.number &- first.number
            return distance > 0 ? Double(second.time &- first.time) / Double(distance) : nil
        }
        return median(slopes)
    }

    private mutating func refine() {
        // Not the median: of ticks that are either early or late, half can be exactly on a wrong line.
        let most = Self.quantile(0.9, of: ticks.map { abs(error(of: $0)) }) ?? 0
        let limit = Self.gate * max(1, most / 1.645)
        var sums = TickSums()
        var squares = 0.0
        for tick in ticks {
            let error = error(of: tick)
            guard abs(error) <= limit else { continue }
            sums.add(Double(tick.number &- ticks[0].number), error)
            squares += error * error
        }
        guard sums.count > 2 else { return }
        let (slope, intercept) = sums.line
        period += slope
        offset += intercept
        let rest = max(0, squares - intercept * sums.y - slope * sums.xy)
        spread = (rest / (sums.count - 2)).squareRoot()
        periodDeviation = spread / sums.spread.squareRoot()
    }

    private static func median(_ values: [Double]) -> Double? { quantile(0.5, of: values) }

    private static func quantile(_ share: Double, of values: [Double]) -> Double? {
        values.isEmpty ? nil : values.sorted()[Int(share * Double(values.count))]
    }
}
