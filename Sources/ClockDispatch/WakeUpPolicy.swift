internal import RealTime

/// When the output thread wakes, and how often.
///
/// All of it is learned from how late the thread was and how long its work took, so it suits a fast laptop and a slow
/// board alike. All wake-ups together may use 3 % of a core; only direct dispatch and raw lines, for which no queue stands
/// by, may use more.
struct WakeUpPolicy {
    /// Time from a deadline until the thread can start the queue, in nanoseconds.
    ///
    /// One wake-up in ten needs longer and takes the queue's next period, which costs less than waking earlier each time.
    var toStart = UpperDuration(20_000, within: 2_000...QueueGrid.period, oneIn: 10)
    /// Time from a deadline until the thread can send, in nanoseconds: one wake-up in two needs longer.
    private var toSendUsually = UpperDuration(20_000, within: 2_000...Self.stall, oneIn: 2)
    /// The same; one in a thousand needs longer.
    private var toSend = UpperDuration(50_000, within: 2_000...Self.stall, oneIn: 1000)
    /// Time to take back from the queue what the thread is to send, in nanoseconds; one time in a thousand needs longer.
    private(set) var toTakeBack = UpperDuration(50_000, within: 2_000...Self.stall, oneIn: 1000)
    /// Processor time to handle a group of messages, in nanoseconds; one group in ten needs more.
    ///
    /// What the thread waits awake counts as well.
    private(set) var toHandle = UpperDuration(200_000, within: 2_000...Self.leads.lowerBound, oneIn: 10)
    /// Time to create or delete a port, in nanoseconds.
    var portChange = UpperDuration(500_000, within: 50_000...1_000_000, oneIn: 100)
    /// The longest that the thread was held up, in nanoseconds; forgotten within hours.
    private var longestDelay: Int64 = 0
    /// Processor time that the thread may still use, or has used too much, in nanoseconds.
    private var balance: Int64 = 0
    /// When the last group was handled, and the thread's processor time then, in nanoseconds.
    private var last: (time: MonotonicTime, threadTime: Int64)?

    /// All wake-ups together may use one part in so many of a core: 3 %.
    private static let shareOfCore: Int64 = 33
    /// A thread that is ready only so late has been held up, in nanoseconds.
    ///
    /// A slow processor needs less, and a musician hears only more.
    private static let stall: Int64 = 1_000_000
    /// The most processor time that the thread may save for later, or owe, in nanoseconds.
    private static let mostSaved: Int64 = 2_000_000
    /// Limits of the lead, in nanoseconds.
    ///
    /// The longer it is, the longer an outdated plan stays in force while the thread is held up.
    static let leads: ClosedRange<Int64> = 5_000_000...40_000_000
    /// Limits of the length of a group, in microseconds; a Start and its tick fit into the shortest.
    private static let spans: ClosedRange<Int64> = 2_500...leads.upperBound / 1_000

    /// How long before a message is due to start the queue, in nanoseconds; beside another one earlier, by the time until
    /// that can be measured.
    ///
    /// Twice the longest delay. While the queue runs, its timer interrupts the processor 6250 times a second, so it is not
    /// started earlier than that.
    var lead: Int64 { min(max(2 * longestDelay, Self.leads.lowerBound), Self.leads.upperBound) }

    /// Length of a group of messages that are handled at one wake-up, in microseconds.
    ///
    /// The shortest, unless the thread has used more than its share of the processor; 1 ms too much adds 20 ms.
    var groupSpan: Int64 {
        min(Self.spans.lowerBound + max(0, -balance) / 50, Self.spans.upperBound)
    }

    /// Whether the thread may wake more often than it has to: it could hardly save more.
    var hasTime: Bool { balance >= Self.mostSaved * 3 / 4 }

    /// How long before a message is due to wake in order to send it, in nanoseconds; the thread busy-waits for the rest.
    ///
    /// What the thread usually needs, and more while that is within half of what it may still use: so enough is left for
    /// what is due soon after.
    var marginToSend: Int64 { max(toSendUsually.nanoseconds, min(toSend.nanoseconds, balance / 2)) }

    /// Notes how late the thread woke, in nanoseconds.
    mutating func wokeUp(lateness: Int64) {
        longestDelay -= longestDelay >> 16
        longestDelay = max(longestDelay, min(lateness, Self.leads.upperBound / 2))
    }

    /// Notes that the thread could send so long after its deadline, in nanoseconds.
    ///
    /// What it has waited awake, while the queue stood by, is not counted. No margin covers a stall, so that teaches nothing.
    mutating func couldSend(after time: Int64) {
        guard time <= Self.stall else { return }
        toSendUsually.learn(time)
        toSend.learn(time)
    }

    /// Notes how long it took to take back what the thread is to send, in nanoseconds; a stall teaches nothing.
    mutating func tookBack(in time: Int64) {
        if time <= Self.stall { toTakeBack.learn(time) }
    }

    /// Notes that a group of messages has been handled.
    ///
    /// - Parameters:
    ///   - time: the present time.
    ///   - threadTime: the processor time that the thread has used so far, in nanoseconds.
    mutating func finishedGroup(at time: MonotonicTime, threadTime: Int64) {
        if let last {
            let allowed = (time.nanoseconds - last.time.nanoseconds) / Self.shareOfCore
            let used = threadTime - last.threadTime
            toHandle.learn(used)
            balance = min(max(balance + allowed - used, -Self.mostSaved), Self.mostSaved)
        }
        last = (time, threadTime)
    }
}

/// Estimates the time that most of some durations stay below.
struct UpperDuration {
    /// The estimate.
    private(set) var nanoseconds: Int64
    private let limits: ClosedRange<Int64>
    private let others: Int64

    /// - Parameters:
    ///   - nanoseconds: the first estimate.
    ///   - limits: limits of the estimate, in nanoseconds.
    ///   - share: one duration in so many exceeds the estimate.
    init(_ nanoseconds: Int64, within limits: ClosedRange<Int64>, oneIn share: Int64) {
        self.nanoseconds = nanoseconds
        self.limits = limits
        others = share - 1
    }

    /// Raises the estimate when it was exceeded, and lowers it by so much less otherwise that it settles.
    mutating func learn(_ duration: Int64) {
        let step = nanoseconds / 8
        nanoseconds += duration > nanoseconds ? step : -max(1, step / others)
        nanoseconds = min(max(nanoseconds, limits.lowerBound), limits.upperBound)
    }
}
