internal import MIDIClock

/// A tick of the measured clock: its number, and its time in microseconds.
struct Tick: Hashable {
    var number: Int64
    var time: Int64
}

/// What is counted, and how many are measured together.
struct PulseKind: Hashable, Sendable {
    /// How many are measured against one line; slower wander is not seen as jitter.
    let block: Int
    /// Fewest for a useful line.
    let fewest: Int

    /// Ticks of a MIDI clock, four beats of them; any swing in the clock repeats within that.
    static let ticks = PulseKind(block: 96, fewest: 24)
    /// Sounds, about one per beat; few enough to measure a recording of ten seconds.
    static let sounds = PulseKind(block: 16, fewest: 8)
}

/// Successive ticks, and the straight line through most of them.
///
/// The line is a least-squares fit to all ticks except outliers, much farther away than 90 % of them. A few late ticks
/// after a stall thus do not bend it.
struct TickBlock {
    private let kind: PulseKind
    let ticks: [Tick]
    /// Microseconds from one tick to the next.
    private(set) var period: Double
    /// Standard deviation of ``period``.
    private(set) var periodDeviation: Double
    /// Standard deviation of the ticks used for the line.
    private(set) var spread: Double
    /// Time of the first tick by the line, in microseconds after its stamp.
    private var offset: Double

    /// Distance from the line, in deviations, beyond which ticks are outliers.
    private static let gate = 5.0
    /// Two lines have the same tempo if they differ by less over a block, in microseconds; coarse timers cause that
    /// much.
    private static let sameLine = 2_000.0
    /// Two lines also have the same tempo if they differ by fewer deviations than this.
    private static let sameLineDeviations = 4.5

    /// Fits the line; nil for too few ticks, or if they are not successive.
    init?(_ ticks: [Tick], of kind: PulseKind = .ticks) {
        // If more than three of four are missing, they are not successive.
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

    /// Lateness of a tick relative to the line, in microseconds.
    func error(of tick: Tick) -> Double {
        Double(tick.time &- ticks[0].time) - offset - period * Double(tick.number &- ticks[0].number)
    }

    /// Whether a tick is near the line, and so no outlier.
    func isNear(_ tick: Tick) -> Bool { abs(error(of: tick)) <= Self.gate * max(1, spread) }

    /// Whether the next block continues at the same tempo, in step.
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
        // Not the median: if ticks are either early or late, half of them can be exactly on a wrong line.
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
