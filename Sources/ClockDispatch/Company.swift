/// Detects that another program keeps a queue running.
///
/// All queues share one timer of the kernel. While it runs for another queue, a newly started queue waits until it fires
/// next, up to 1 ms. A queue of ours then cannot be started so that a period ends exactly when a message is due.
struct Company {
    /// Whether another queue runs.
    private(set) var isPresent = false
    /// 0 to 4: goes up with each late start, and down with each other one.
    private var evidence = 0
    /// Shortest time lately from asking for a start to the start, in nanoseconds: what the call itself takes.
    private var usual: Int64 = 1_000_000
    private var armings = 0

    /// How long a newly started queue may have to wait, with a margin, in nanoseconds.
    static let longestWait: Int64 = 2_000_000
    /// Beside another queue, one in so many messages checks by a new start whether that one still runs.
    private static let checks = 128

    /// Whether the queue is to be started anew, even if it runs.
    mutating func wantsStart() -> Bool {
        armings &+= 1
        return !isPresent || armings % Self.checks == 0
    }

    /// Takes a measurement of one start.
    ///
    /// Some late starts in a row are needed, because an interrupt that is late once looks the same.
    ///
    /// - Parameter delay: limits of the time from asking for the start to the start, in nanoseconds.
    mutating func started(after delay: ClosedRange<Int64>) {
        // It may grow again, since a processor that saves power becomes slower.
        usual = min(usual + usual / 64 + 1, max(1, delay.upperBound))
        evidence = delay.lowerBound / 2 > usual ? min(evidence + 1, 4) : max(evidence - 1, 0)
        if evidence >= 3 { isPresent = true }
        if evidence == 0 { isPresent = false }
    }
}
