internal import ALSASequencer
internal import RealTime

/// When the sequencer's queue can send: every 160 us from the moment it is started.
///
/// So it is started anew for each group of messages, at a moment that puts one of its periods' ends exactly where the
/// group wants to leave. It is never started before that moment, so it can never send early.
struct QueueGrid: Hashable, BitwiseCopyable {
    /// When the queue is started, at the earliest.
    let start: MonotonicTime

    static let period = SequencerSender.queuePeriod

    init(start: MonotonicTime) { self.start = start }

    /// The grid to start next, one of whose periods ends at a time; nil if that is less than a period away.
    ///
    /// - Parameters:
    ///   - aim: that time.
    ///   - now: the earliest possible start.
    ///   - lead: how long before `aim` to start at most, in nanoseconds.
    init?(aimingAt aim: MonotonicTime, from now: MonotonicTime, lead: Int64) {
        let periods = min(aim.nanoseconds - now.nanoseconds, lead) / Self.period
        guard periods >= 1 else { return nil }
        start = aim.advanced(byNanoseconds: -periods * Self.period)
    }

    /// The next grid whose start the kernel's own timer tick does not hold up, and with it all that leaves the queue.
    ///
    /// - Parameter limit: when it has to be started.
    /// - Returns: the grid a period later, or itself if it need not wait, or if that would be too late.
    func clearOfKernelTick(before limit: MonotonicTime) -> QueueGrid {
        let isHeldUp = KernelTick.falls(
            after: start.advanced(byNanoseconds: -KernelTick.work),
            until: start.advanced(byNanoseconds: KernelTick.write))
        let next = start.advanced(byNanoseconds: Self.period)
        return isHeldUp && next < limit ? QueueGrid(start: next) : self
    }

    /// The queue time that makes a message leave at the end of the first period that does not end before a time.
    ///
    /// It is the middle of that period, so that some microseconds between the start asked for and the start done make
    /// no difference.
    func stamp(notBefore time: MonotonicTime) -> Int64 {
        periods(until: time) * Self.period - Self.period / 2
    }

    /// The end of the period at which a message with such a stamp leaves, at the earliest.
    func periodEnd(ofStamp stamp: Int64) -> MonotonicTime {
        start.advanced(byNanoseconds: stamp + Self.period / 2)
    }

    private func periods(until time: MonotonicTime) -> Int64 {
        let distance = time.nanoseconds - start.nanoseconds
        return max(1, (distance + Self.period - 1) / Self.period)
    }
}
