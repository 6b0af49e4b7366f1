internal import ALSASequencer
internal import RealTime

/// When the sequencer's queue can send: every 160 us from its start.
///
/// Unless another program's queue runs, it is therefore restarted for each group of messages, so that one of its periods
/// ends exactly when the group is due; and never before the planned moment, so that it never sends early.
struct QueueGrid: Hashable, BitwiseCopyable {
    /// Earliest start of the queue.
    let start: MonotonicTime

    static let period = SequencerSender.queuePeriod

    init(start: MonotonicTime) { self.start = start }

    /// The earliest possible grid with a period that ends at a given time.
    ///
    /// Nil if that time is less than a period away.
    ///
    /// - Parameters:
    ///   - aim: the end of the period.
    ///   - now: the earliest possible start.
    ///   - lead: longest time from the start to `aim`, in nanoseconds.
    init?(aimingAt aim: MonotonicTime, from now: MonotonicTime, lead: Int64) {
        let periods = min(aim.nanoseconds - now.nanoseconds, lead) / Self.period
        guard periods >= 1 else { return nil }
        start = aim.advanced(byNanoseconds: -periods * Self.period)
    }

    /// The queue time for a message that must not be sent before a given time.
    ///
    /// The queue sends it at the end of the first period that ends then or later. The stamp is the middle of that
    /// period, so a start that is a few microseconds off makes no difference.
    func stamp(notBefore time: MonotonicTime) -> Int64 {
        periods(until: time) * Self.period - Self.period / 2
    }

    /// The end of the period that is nearest to a time, but never before the first.
    func end(nearest time: MonotonicTime) -> MonotonicTime {
        start.advanced(byNanoseconds: periods(until: time.advanced(byNanoseconds: -Self.period / 2)) * Self.period)
    }

    private func periods(until time: MonotonicTime) -> Int64 {
        let distance = time.nanoseconds - start.nanoseconds
        return max(1, (distance + Self.period - 1) / Self.period)
    }
}
