public import BeatTime

/// Measures how long a clock takes out and back, through a cable or a device that passes it on.
///
/// Returned ticks all look alike, and with an even clock a delay longer by one tick gives the same picture. So the sent
/// clock must be uneven. The delay is the one at which the returned unevenness matches the sent one. If another delay
/// fits nearly as well, there is no result.
///
/// ```swift
/// let mark = Probe(startTick: 0, blockLength: 1, seed: 7)
/// let sent = (Int64(0)..<200).map { HostTime(microseconds: $0 * 20_833 + mark.sign(ofTick: $0) * 208) }
/// let returned = sent.map { $0.advanced(byMicroseconds: 3_000) }
/// assert(try LoopBack(sent: sent, returned: returned).median == 3_000)
/// ```
public struct LoopBack: Hashable, Sendable {
    /// Number of ticks sent.
    public let sent: Int
    /// Number of ticks that came back.
    public let returned: Int
    /// Median delay in microseconds.
    public let median: Int64
    /// Shortest and longest delay in microseconds.
    public let range: ClosedRange<Int64>
    /// Standard deviation in microseconds.
    public let spread: Double

    /// Why there is no result.
    ///
    /// ```swift
    /// do {
    ///     _ = try LoopBack(sent: [], returned: [])
    /// } catch {
    ///     assert(error == .silence)
    /// }
    /// ```
    public enum Failure: Error, Hashable, Sendable {
        /// Nothing came back.
        case silence
        /// This many ticks came back, but could not be matched to those sent.
        case ambiguity(returned: Int)
    }

    /// Longest delay that is looked for, in microseconds: no offset can compensate more.
    public static let longest: Int64 = 500_000
    /// Most ticks used to find the approximate delay.
    private static let enough = 10_000
    /// Fewest ticks for a result.
    private static let fewest = 10
    /// By how much any other delay must fit worse, in standard deviations.
    private static let confidence = 3.0
    /// Smallest step between the delays tried, in microseconds.
    private static let finest: Int64 = 100
    /// Smallest deviation assumed for delays, in microseconds.
    private static let resolution = 5.0
    /// Without any delay, a return may be stamped this many microseconds before its sending.
    private static let disorder: Int64 = 1_000

    /// Measures the delay.
    ///
    /// - Parameters:
    ///   - sent: times of sending, in order.
    ///   - returned: times of return, by the same clock.
    /// - Throws: why there is no result.
    public init(sent: [HostTime], returned: [HostTime]) throws(Failure) {
        guard let first = sent.first, let last = sent.last, first < last, !returned.isEmpty else { throw .silence }
        let times = sent.map(\.microseconds)
        // What returns after the longest delay was certainly sent after recording had begun.
        let start = first.advanced(byMicroseconds: Self.longest)
        let comparable = returned.filter { $0 >= start && $0 <= last }.map(\.microseconds).sorted()
        let tick = first.microseconds(to: last) / Int64(times.count - 1)
        guard let length = Self.length(times, Array(comparable.prefix(Self.enough)), tick: tick) else {
            throw .ambiguity(returned: returned.count)
        }
        let delays = Self.delays(times, comparable, near: length).map { max(0, $0) }.sorted()
        let mean = Double(delays.reduce(0, +)) / Double(delays.count)
        let squares = delays.reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) }
        self.sent = sent.count
        self.returned = returned.count
        median = delays[delays.count / 2]
        range = delays[0]...delays[delays.count - 1]
        spread = (squares / Double(delays.count)).squareRoot()
    }

    /// The approximate delay; nil if it is not clear.
    private static func length(_ sent: [Int64], _ returned: [Int64], tick: Int64) -> Int64? {
        guard returned.count >= fewest else { return nil }
        let fits = stride(from: 0, through: longest, by: Int(max(finest, tick / 4))).map { length in
            Fit(Self.delays(sent, returned, near: length))
        }
        let possible = fits.filter { $0.median >= -disorder }
        guard let best = possible.min(by: { $0.scatter < $1.scatter }) else { return nil }
        let delays = Self.delays(sent, returned, near: best.median)
        let isClear = possible.allSatisfy { other in
            abs(other.median - best.median) <= tick / 2
                || best.lead(delays, over: Self.delays(sent, returned, near: other.median)) >= confidence
        }
        return isClear ? best.median : nil
    }

    /// How well returned ticks match for one delay.
    private struct Fit {
        let median: Int64
        /// Mean distance of a delay from the median, in microseconds.
        let scatter: Double

        init(_ delays: [Int64]) {
            let median = delays.sorted()[delays.count / 2]
            self.median = median
            scatter = delays.reduce(0.0) { $0 + Double(abs($1 - median)) } / Double(delays.count)
        }

        /// Compares the fit of two delays by their sums of squares.
        ///
        /// Ticks that are not ours fit both equally well, apart from chance. Outliers are left out.
        ///
        /// - Parameters:
        ///   - delays: for this delay.
        ///   - others: of the same ticks, for the other delay.
        /// - Returns: how much better this one fits, in standard deviations of chance.
        func lead(_ delays: [Int64], over others: [Int64]) -> Double {
            let limit = 6 * (scatter + resolution)
            let kept = delays.indices.filter { Double(abs(delays[$0] - median)) <= limit }
            let count = Double(kept.count)
            let mean = kept.reduce(0.0) { $0 + Double(delays[$1]) } / count
            let meanStep = kept.reduce(0.0) { $0 + Double(others[$1] - delays[$1]) } / count
            var (squares, products, steps) = (0.0, 0.0, 0.0)
            for index in kept {
                let delay = Double(delays[index]) - mean
                let step = Double(others[index] - delays[index]) - meanStep
                squares += delay * delay
                products += delay * step
                steps += step * step
            }
            let deviation = max(resolution, (squares / count).squareRoot())
            return (products + steps / 2) / (deviation * steps.squareRoot())
        }
    }

    /// The delay of each returned tick, matched to the sent tick that makes it nearest to a given delay.
    private static func delays(_ sent: [Int64], _ returned: [Int64], near length: Int64) -> [Int64] {
        var place = 0
        return returned.map { time in
            while place + 1 < sent.count, abs(time - sent[place + 1] - length) <= abs(time - sent[place] - length) {
                place += 1
            }
            return time - sent[place]
        }
    }
}
