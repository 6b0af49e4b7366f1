/// Estimates how late wake-ups usually are, and how much earlier to wake.
struct WakeUpLatency {
    /// 99 % of wake-ups are less late than this, in nanoseconds.
    private(set) var usual: Int64 = 50_000
    private var wakeUps: UInt64 = 0
    /// The last sixteen samples of the load, newest in the lowest bit: 1 if other threads ran or waited.
    private var loadSamples: UInt16 = 0

    /// Number of the last sixteen samples that must find other threads for the machine to count as busy.
    ///
    /// A single thread that wakes at the same moment as ours is no load.
    private static let enoughSamples = 3
    /// Longest time that the kernel is known to disable interrupts for another program, in nanoseconds.
    ///
    /// Linux 6.1 does so while it frees a list of some thousand pages. Neither a thread nor the queue can run then.
    private static let longestShut: Int64 = 400_000
    /// Limits of ``usual``; less would not help, because taking a message back from the queue takes as long.
    private static let allowed: ClosedRange<Int64> = 20_000...250_000
    private static let learningStep: Int64 = 5_000

    /// How long before a message is due to wake; the thread busy-waits for the rest.
    ///
    /// With one message per tick, this uses at most 0.5 % of a core; on a busy machine up to six times that. While the
    /// thread is awake, no other work can start on its core and disable interrupts; such work that has already begun
    /// is finished in time.
    ///
    /// With a queue, the margin is not raised on a busy machine if 0.5 % is too short to take a message back safely:
    /// anything the thread misses is sent by the queue, and a busy-wait of 0.1 ms would not help.
    ///
    /// - Parameters:
    ///   - tickLength: time between two messages, in microseconds.
    ///   - hasQueue: whether the queue sends what the thread does not.
    /// - Returns: nanoseconds.
    func wakeUpMargin(tickLength: Int64, hasQueue: Bool) -> Int64 {
        let share = tickLength * 5
        guard isMachineBusy, share >= Self.allowed.lowerBound || !hasQueue else { return min(usual, share) }
        return min(Self.longestShut, 6 * share)
    }

    /// Whether other threads keep the machine busy; they may belong to this program.
    var isMachineBusy: Bool { loadSamples.nonzeroBitCount >= Self.enoughSamples }

    /// Whether to sample the load again: three times a beat with the queue as backstop.
    var wantsLoadSample: Bool { wakeUps % 16 == 1 }

    /// Takes a sample of the load.
    ///
    /// - Parameter otherThreads: the number that run or wait, right after a wake-up.
    mutating func sampleLoad(otherThreads: Int) { loadSamples = loadSamples << 1 | (otherThreads > 0 ? 1 : 0) }

    /// Raises the estimate a lot when it was exceeded, and lowers it by a ninety-ninth of that otherwise.
    ///
    /// It settles where one wake-up in a hundred exceeds it.
    mutating func learn(_ latency: Int64) {
        wakeUps &+= 1
        usual += latency > usual ? Self.learningStep : -Self.learningStep / 99
        usual = min(max(usual, Self.allowed.lowerBound), Self.allowed.upperBound)
    }
}
