public import BeatTime

/// How long a clock takes out and back again, through a cable or a device that passes it on.
///
/// A tick that has come back looks like any other, and a way that is longer by just one tick gives the same picture if
/// the clock is even. So what is sent must not be: the way's length is the one at which the unevenness that comes back is
/// that which was sent. Where another length fits nearly as well, none is told.
public struct LoopBack: Hashable, Sendable {
    /// Ticks that were sent.
    public let sent: Int
    /// Ticks that came back.
    public let returned: Int
    /// The delay that half of them do not exceed, in microseconds.
    public let median: Int64
    /// The shortest and the longest, in microseconds.
    public let range: ClosedRange<Int64>
    /// Standard deviation in microseconds.
    public let spread: Double

    /// Why there is nothing to tell.
    public enum Doubt: Error, Hashable, Sendable {
        /// Nothing came back.
        case silence
        /// So many ticks came back, and did not show which of those sent they were.
        case ambiguity(returned: Int)
    }

    /// The longest way that is looked for, in microseconds: no offset makes up for more.
    public static let longest: Int64 = 500_000
    /// Ticks that are enough to find the way's length roughly.
    private static let enough = 10_000
    /// The fewest from which to tell it.
    private static let fewest = 10
    /// How far any other length must be from fitting as well, in standard deviations.
    private static let confidence = 3.0
    /// The finest steps in which lengths are tried, in microseconds.
    private static let finest: Int64 = 100
    /// Delays are not trusted to be more even than this, in microseconds.
    private static let resolution = 5.0
    /// By how many microseconds a return may be stamped before its sending, where there is no way at all.
    private static let disorder: Int64 = 1_000

    /// Measures.
    ///
    /// - Parameters:
    ///   - sent: when ticks left, in their order.
    ///   - returned: when ticks came back, by the same clock.
    /// - Throws: why the way's length cannot be told.
    public init(sent: [HostTime], returned: [HostTime]) throws(Doubt) {
        guard let first = sent.first, let last = sent.last, first < last, !returned.isEmpty else { throw .silence }
        let times = sent.map(\.microseconds)
        // However long the way is, what these are the return of has been heard leaving.
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

    /// Roughly how long the way is; nil if that cannot be told.
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

    /// How evenly ticks come back if the way is of some length.
    private struct Fit {
        let median: Int64
        /// Mean distance of a delay from the median, in microseconds.
        let scatter: Double

        init(_ delays: [Int64]) {
            let median = delays.sorted()[delays.count / 2]
            self.median = median
            scatter = delays.reduce(0.0) { $0 + Double(abs($1 - median)) } / Double(delays.count)
        }

        /// Compares how well two lengths fit.
        ///
        /// It is by how much less the squares of the delays sum up to. Ticks that are not ours fit both equally well, but
        /// for chance. Delays far from all the others are left out.
        ///
        /// - Parameters:
        ///   - delays: at this length.
        ///   - others: those of the same ticks at the other.
        /// - Returns: by how much this one fits better, in standard deviations of what chance does.
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

    /// The delay of each tick that came back, were it the return of that which makes the delay nearest to a length.
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
