internal import ALSASequencer
internal import RealTime

/// The sequencer's queue since its last start: when its periods of 160 us end, as far as is known.
///
/// All queues share one timer of the kernel. While it runs for another program's queue, a newly started one waits until
/// it fires next. Nothing here asks whether there is another one: alone, the queue starts at once; beside others it
/// starts up to some milliseconds later, and its periods end where that timer has them.
struct QueueRun: BitwiseCopyable {
    /// When the call that started it was made.
    let called: MonotonicTime
    /// When to ask for the queue's status next.
    private(set) var nextReading: MonotonicTime
    /// When its time was 0; nil until it is known.
    private(set) var origin: MonotonicTime?
    /// The earliest upper limit of the origin in all readings, and the smallest distance of the limits.
    private var (latest, width) = (Int64.max, Int64.max)
    private var readings = 0
    /// When the last message put into it leaves it.
    var lastLeaves: MonotonicTime

    /// How long the queue waits between two moments at which it sends, in nanoseconds.
    static let period = SequencerSender.queuePeriod
    /// An interrupt that is late once makes the queue seem to have started later.
    private static let readingsNeeded = 3
    /// A reading between limits no further apart than this, in nanoseconds, tells by itself that the queue started at once.
    private static let narrow: Int64 = 40_000
    /// How often the origin is read anew while the queue runs on, in nanoseconds.
    private static let interval: Int64 = 1_000_000_000

    /// - Parameters:
    ///   - called: when the call was made that started it.
    ///   - returned: when it returned.
    init(called: MonotonicTime, returned: MonotonicTime) {
        self.called = called
        nextReading = returned.advanced(byNanoseconds: 2 * Self.period)
        lastLeaves = called
    }

    /// Takes a reading of the queue's status.
    ///
    /// What the queue tells as its time runs from the call on, even while it waits for another queue's timer. Its ticks
    /// do not: one is one period, and the first one shows that it has started.
    ///
    /// - Parameters:
    ///   - status: what the kernel says; nil if it does not know the queue.
    ///   - now: the present time.
    mutating func read(_ status: SequencerSender.QueueStatus?, at now: MonotonicTime) {
        nextReading = now.advanced(byNanoseconds: 1_000_000)
        guard let status, status.ticks > 0 else { return }
        latest = min(latest, status.origin.upperBound.nanoseconds)
        width = min(width, status.origin.upperBound.nanoseconds - status.origin.lowerBound.nanoseconds)
        readings += 1
        let found = latest - width / 2
        let isPrompt = width <= Self.narrow && abs(found - called.nanoseconds) <= Self.narrow / 2
        if isPrompt || origin != nil || readings >= Self.readingsNeeded {
            origin = isPrompt ? called : MonotonicTime(nanoseconds: found)
        }
        nextReading = now.advanced(byNanoseconds: origin == nil ? Self.period : Self.interval)
    }

    /// The number of the period whose end is nearest to a time, but never before the first.
    func period(endingNear time: MonotonicTime) -> Int64 {
        let distance = time.nanoseconds - (origin ?? called).nanoseconds
        return max(1, (distance + Self.period / 2) / Self.period)
    }

    /// When a period ends, and the queue sends what is stamped for it.
    func end(ofPeriod number: Int64) -> MonotonicTime {
        (origin ?? called).advanced(byNanoseconds: number * Self.period)
    }

    /// The queue time for a message that is to leave at the end of a period: its middle.
    static func stamp(ofPeriod number: Int64) -> Int64 { number * period - period / 2 }
}
