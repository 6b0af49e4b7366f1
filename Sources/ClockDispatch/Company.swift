internal import RealTime

/// Detects that another program keeps a queue running.
///
/// All queues share one timer of the kernel. While it runs for another queue, a newly started queue waits until it fires
/// next, usually for up to 1 ms. A queue of ours then cannot be started so that a period ends exactly when a message is
/// due.
struct Company {
    /// Whether another queue runs.
    private(set) var isPresent = false
    /// 0 to ``certain``: goes up with each late start, and down with each other one.
    private var evidence = 0
    /// Whether the kernel knows of no other queue.
    private var isDoubted = false
    private var armings = 0

    /// How long a newly started queue may have to wait, with a margin, in nanoseconds.
    static let longestWait: Int64 = 2_000_000
    /// A start is late if it comes later than this after the call has returned, in nanoseconds.
    ///
    /// An interrupt that is late makes a start seem later, by less than this as a rule.
    static let tolerance: Int64 = QueueGrid.period / 4
    private static let certain = 6
    /// Beside another queue, one in so many armings checks whether that one still runs.
    private static let checks = 128

    /// Decides whether the queue is to be started anew, even if it runs.
    ///
    /// What is in a queue that waits for its start may leave late. So beside another queue ours is started anew only if
    /// the kernel does not know that the other one still runs.
    ///
    /// - Returns: whether to start it.
    mutating func wantsStart() -> Bool {
        defer { isDoubted = false }
        return !isPresent || isDoubted
    }

    /// Notes that messages were put into the queue.
    ///
    /// - Returns: whether it is time to ask the kernel for other queues, and to ``note(anotherQueueRuns:)``.
    mutating func armed() -> Bool {
        guard isPresent else { return false }
        armings &+= 1
        return evidence < Self.certain || armings % Self.checks == 0
    }

    /// Notes whether the kernel knows of another queue that runs.
    mutating func note(anotherQueueRuns: Bool) {
        isDoubted = !anotherQueueRuns
        if anotherQueueRuns { evidence = Self.certain }
    }

    /// Takes the measurement of one start.
    ///
    /// Some late starts in a row are needed, because an interrupt that is very late once looks the same.
    mutating func started(isLate: Bool) {
        evidence = isLate ? min(evidence + 1, Self.certain) : max(evidence - 1, 0)
        if evidence >= 3 { isPresent = true }
        if evidence == 0 { isPresent = false }
    }
}
