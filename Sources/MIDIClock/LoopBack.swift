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
    /// By how much less ticks must scatter at the length found than at any other.
    ///
    /// It is the share by which they do, times their number. Chance makes 1 or 2 of it.
    private static let confidence = 10.0
    /// The finest steps in which lengths are tried, in microseconds.
    private static let finest: Int64 = 100
    /// Two lengths that fit equally well to so many microseconds are not told apart.
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
        guard !returned.isEmpty else { return nil }
        var fits: [(length: Int64, scatter: Double)] = []
        for length in stride(from: 0, through: longest, by: Int(max(finest, tick / 8))) {
            let delays = delays(sent, returned, near: length).sorted()
            let median = delays[delays.count / 2]
            let scatter = delays.reduce(0.0) { $0 + abs(Double($1 - median)) } / Double(delays.count)
            if median >= -disorder { fits.append((median, scatter + resolution)) }
        }
        guard let best = fits.min(by: { $0.scatter < $1.scatter }) else { return nil }
        let others = fits.filter { abs($0.length - best.length) > tick / 2 }.map(\.scatter)
        let next = others.min() ?? .infinity
        return Double(returned.count) * (1 - best.scatter / next) >= confidence ? best.length : nil
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
