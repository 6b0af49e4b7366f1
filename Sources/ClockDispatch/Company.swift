internal import RealTime

/// Detects that another program keeps a queue running.
///
/// All queues share one timer of the kernel. While it runs for another queue, a newly started queue waits until it fires
/// next, usually for up to 1 ms. A queue of ours then cannot be started so that a period ends exactly when a message is
/// due.
struct Company {
    /// Whether another queue runs.
    private(set) var isPresent = false
    /// Whether the last start was late.
    private var wasLate = true
    /// 0 to ``certain``: goes up with each late start, and down with each other one.
    private var evidence = 0

    /// How long a newly started queue usually has to wait at most, with a margin, in nanoseconds.
    static let longestWait: Int64 = 2_000_000
    /// A start is late if it comes later than this after the call has returned, in nanoseconds.
    ///
    /// An interrupt that is late makes a start seem later, by less than this as a rule.
    static let tolerance: Int64 = QueueGrid.period / 4
    /// Beside a queue of 6250 Hz, one start in four is not late by more than that; so many in a row hardly ever are.
    private static let certain = 16

    /// How long after the queue's start it shows when that was, in nanoseconds.
    var wait: Int64 { isPresent ? Self.longestWait : 0 }

    /// How much earlier than planned to start the queue, in nanoseconds.
    ///
    /// A start that came just before the other queue's timer fired was not late. The next one shall be.
    var shift: Int64 { isPresent && !wasLate ? QueueGrid.period / 2 : 0 }

    /// Takes the measurement of one start.
    ///
    /// Some late starts in a row are needed, because an interrupt that is very late once looks the same.
    mutating func started(isLate: Bool) {
        wasLate = isLate
        evidence = isLate ? min(evidence + 1, Self.certain) : max(evidence - 1, 0)
        if evidence >= 3 { isPresent = true }
        if evidence == 0 { isPresent = false }
    }
}
