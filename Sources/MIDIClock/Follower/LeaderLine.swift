internal import BeatTime

/// When a leader's ticks are sent, as far as is known: a straight line, and how far the truth may be from it.
///
/// It is the middle of all possible lines. Noise that is not flat, because far delays are rare, is better judged by its
/// mean, so then the line is that of least squares, and runs where ticks are hardly ever earlier.
struct LeaderLine: Sendable {
    /// Microseconds from one tick to the next.
    private(set) var slope: Double
    /// Number and time of arrival of a tick.
    private var origin: StampedTick
    /// Time of that tick by the line, in microseconds after its arrival.
    private var offset: Double
    /// Number of ticks that it is based on.
    private(set) var count: Int
    /// How far ``slope`` may be off.
    private(set) var slopeDoubt: Double
    /// How far the line may be off at the next beat, in microseconds; infinite while that cannot be told.
    private(set) var nextBeatDoubt: Double
    /// Standard deviation of a tick's lateness, in microseconds.
    private(set) var jitter: Double
    /// How peaked the delays have been for a while: 1 for noise with rare outliers, 0 for flat noise, steps and swing.
    private let meanPeak: Double
    /// Whether the distances of the ticks are those of a clock.
    let isRegular: Bool

    /// Whether delays have been peaked for a while.
    var isPeaked: Bool { meanPeak > 0.15 }

    /// Fits the line.
    ///
    /// - Parameters:
    ///   - history: the ticks.
    ///   - hull: of the ticks that lines are drawn through.
    ///   - strip: their narrowest strip.
    ///   - coarseness: not less than that strip's width.
    ///   - former: the former line.
    init(
        _ history: borrowing TickHistory, _ hull: DelayStrip, _ strip: (slope: Double, width: Double),
        coarseness: Double, former: LeaderLine?
    ) {
        origin = history.first
        let sums = ResidualSums(history.ticks[history.begin...], near: strip.slope)
        count = Int(sums.count)
        isRegular = sums.isRegular(strip.slope, width: strip.width)
        jitter = max(1, sums.deviation)
        let shape = strip.width / max(jitter, 0.1)
        let flat = 3.75 + 0.25 * Self.binaryLogarithm(max(sums.count, 24) / 24)
        let peak = min(max((shape - flat) / 0.35, 0), 1)
        meanPeak = (former?.meanPeak ?? 0) + 0.01 * (peak - (former?.meanPeak ?? 0))
        let width = coarseness + 20
        let slopes = hull.slopes(within: width, around: strip.slope)
        let least = strip.slope + sums.slope
        let middle = (slopes.lowerBound + slopes.upperBound) / 2
        // 0.05 BPM.
        let margin = peak > 0 ? 0.05 * middle * middle / 2_500_000 : 0
        slope = min(
            max((1 - peak) * middle + peak * least, slopes.lowerBound - margin), slopes.upperBound + margin)
        let edge = Self.edge(hull, slope, width)
        offset = (1 - peak) * edge + peak * (sums.mean(slope, near: strip.slope) - 2.3 * jitter)
        let span = max(1, Double(history.newest.number &- origin.number))
        let possible = max(slopes.upperBound - slope, slope - slopes.lowerBound) + 0.1 * width / span
        slopeDoubt = (1 - peak) * possible + peak * 3 * jitter / sums.spread.squareRoot()
        let ahead = span + 24
        let expected = offset + slope * ahead
        var doubt = 0.0
        for step in 0...4 {
            let other = slopes.lowerBound + (slopes.upperBound - slopes.lowerBound) * Double(step) / 4
            let (low, high) = hull.edges(other)
            doubt = max(doubt, abs(low + other * ahead - expected))
            doubt = max(doubt, abs(min(high - width, low) + other * ahead - expected))
        }
        let deviation =
            jitter * (1 / sums.count + (ahead - sums.meanX) * (ahead - sums.meanX) / sums.spread).squareRoot()
        nextBeatDoubt = peak >= 1 ? min(doubt, 3 * deviation) : doubt
    }

    /// The middle of the possible lower edges.
    private static func edge(_ hull: DelayStrip, _ slope: Double, _ width: Double) -> Double {
        let (low, high) = hull.edges(slope)
        return (low + min(high - width, low)) / 2
    }

    /// The logarithm to base 2, by straight lines between powers of 2.
    private static func binaryLogarithm(_ value: Double) -> Double {
        Double(value.exponent) + value.significand - 1
    }

    /// How much later than the line a tick of a number came, in microseconds.
    func lateness(of number: Int64, at time: Int64) -> Double {
        Double(time &- origin.time) - offset - slope * Double(number &- origin.number)
    }

    /// Moves the line as little as needed, so that a tick is between 0 and the coarseness late.
    mutating func move(to tick: StampedTick, _ coarseness: Double) {
        let late = lateness(of: tick.number, at: tick.time)
        offset += min(late, 0) + max(late - coarseness, 0)
    }

    /// Moves the line to the middle of where ticks allow it, with its slope.
    ///
    /// - Parameters:
    ///   - hull: of the ticks.
    ///   - coarseness: how late they are at the most, in microseconds.
    mutating func place(_ hull: DelayStrip, _ coarseness: Double) {
        origin = hull.origin
        offset = Self.edge(hull, slope, coarseness)
    }

    /// Notes that nothing is certain for the moment.
    mutating func forgetCertainty() { (slopeDoubt, nextBeatDoubt, count) = (slope, .infinity, 0) }

    /// The time of a tick by the line: whole microseconds and the rest, 0 or more and below 1.
    func time(ofTick number: Int64) -> (whole: Int64, fraction: Double) {
        let distance = offset + slope * Double(number &- origin.number)
        let whole = distance.rounded(.down)
        return (origin.time &+ roundedToInteger(whole), distance - whole)
    }
}
