public import BeatTime

/// How long a clock takes out and back again, through a cable or a device that passes it on.
///
/// A tick that has come back looks like any other, so each is taken for the newest one sent before it: what takes longer
/// than from one tick to the next is measured too short by just that.
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

    /// Measures; there is nothing to say if nothing came back.
    ///
    /// - Parameters:
    ///   - sent: when ticks left, in their order.
    ///   - returned: when ticks came back, in their order, by the same clock.
    public init?(sent: [HostTime], returned: [HostTime]) {
        var delays: [Int64] = []
        var next = 0
        for time in returned {
            while next < sent.count, sent[next] <= time { next += 1 }
            if next > 0 { delays.append(sent[next - 1].microseconds(to: time)) }
        }
        delays.sort()
        guard let shortest = delays.first, let longest = delays.last else { return nil }
        let mean = Double(delays.reduce(0, +)) / Double(delays.count)
        let squares = delays.reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) }
        self.sent = sent.count
        self.returned = returned.count
        median = delays[delays.count / 2]
        range = shortest...longest
        spread = (squares / Double(delays.count)).squareRoot()
    }
}
