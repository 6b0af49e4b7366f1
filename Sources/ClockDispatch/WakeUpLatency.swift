/// How late the machine's wake-ups usually are, learnt as they happen, and how much earlier to wake because of it.
struct WakeUpLatency {
    /// What 99 of 100 wake-ups stay below, in nanoseconds.
    private(set) var usual: Int64 = 50_000
    private var wakeUps: UInt64 = 0
    /// The last samples of the machine's load, the newest last: 1 where other threads ran or waited to.
    private var loadSamples: UInt16 = 0

    /// How many of the last sixteen samples have to find other threads for the machine to count as busy.
    ///
    /// One that just wakes up with ours is no load.
    private static let enoughSamples = 3
    /// The longest that the kernel is known to shut interrupts out on behalf of another program, in nanoseconds.
    ///
    /// Linux 6.1 does so while it gives back a list of some thousand pages: neither a thread nor the queue comes to
    /// run.
    private static let longestShut: Int64 = 400_000
    /// Less would be of no use: taking a message back from the queue takes as long.
    private static let allowed: ClosedRange<Int64> = 20_000...250_000
    private static let learningStep: Int64 = 5_000

    /// How long before a moment to wake; the rest is spent awake.
    ///
    /// For one such moment a tick that is never more than half a percent of a core. On a busy machine it is six times
    /// that: who is awake by then keeps away what would shut interrupts out, and what has begun before is over in time.
    /// Where half a percent is too short to take a message back from the queue with certainty, and there is a queue, it
    /// is no earlier on a busy machine: anything it misses is sent by the queue, and a busy-wait of 0.1 ms would not help.
    ///
    /// - Parameters:
    ///   - tickLength: the time between two such moments, in microseconds.
    ///   - hasQueue: whether the queue sends what the thread does not.
    /// - Returns: nanoseconds.
    func wakeUpMargin(tickLength: Int64, hasQueue: Bool) -> Int64 {
        let share = tickLength * 5
        guard isMachineBusy, share >= Self.allowed.lowerBound || !hasQueue else { return min(usual, share) }
        return min(Self.longestShut, 6 * share)
    }

    /// Whether other threads keep the machine busy; they may be our own.
    var isMachineBusy: Bool { loadSamples.nonzeroBitCount >= Self.enoughSamples }

    /// Whether to look again how busy the machine is: with the queue as backstop, three times a beat.
    var wantsLook: Bool { wakeUps % 16 == 1 }

    /// Takes a sample.
    ///
    /// - Parameter otherThreads: how many of them run or wait to, right after a wake-up.
    mutating func look(otherThreads: Int) { loadSamples = loadSamples << 1 | (otherThreads > 0 ? 1 : 0) }

    /// Moves the estimate up by much when it was exceeded and down by a ninety-ninth of that when it was not, so it
    /// rests where one in a hundred exceeds it.
    mutating func learn(_ latency: Int64) {
        wakeUps &+= 1
        usual += latency > usual ? Self.learningStep : -Self.learningStep / 99
        usual = min(max(usual, Self.allowed.lowerBound), Self.allowed.upperBound)
    }
}
