internal import RealTime

/// How long ahead the output thread works, learned from how late it was: it suits a fast laptop and a slow board alike.
struct Punctuality {
    /// Time from a deadline until the thread can act, in nanoseconds; one wake-up in ten needs longer.
    private(set) var margin: Int64 = 20_000
    /// The longest that the thread was held up, or the queue's start, in nanoseconds; forgotten within hours.
    private var longestDelay: Int64 = 0

    /// Limits of the lead, in nanoseconds.
    ///
    /// The longer it is, the longer an outdated plan stays in force.
    static let leads: ClosedRange<Int64> = 5_000_000...40_000_000
    /// Limits of the margin, in nanoseconds: the thread busy-waits for what it does not need.
    private static let margins: ClosedRange<Int64> = 2_000...QueueRun.period

    /// How long before messages are due they are put into the queue, in nanoseconds: twice the longest delay.
    var lead: Int64 { min(max(2 * longestDelay, Self.leads.lowerBound), Self.leads.upperBound) }

    /// Notes how late the thread woke, or the queue started, in nanoseconds.
    mutating func wasDelayed(by delay: Int64) {
        longestDelay -= longestDelay >> 16
        longestDelay = max(longestDelay, min(delay, Self.leads.upperBound / 2))
    }

    /// Notes that the thread could act so long after its deadline, in nanoseconds.
    mutating func couldAct(after time: Int64) {
        let step = margin / 8
        margin += time > margin ? step : -max(1, step / 9)
        margin = min(max(margin, Self.margins.lowerBound), Self.margins.upperBound)
    }
}
