internal import RealTime
internal import Synchronization

/// What the output thread has done; other threads poll it, because that thread announces nothing.
package struct OutputReport: Hashable, Sendable {
    /// The generation of the board in use; nothing planned by older boards will be sent any more, and the fields below
    /// reflect it.
    package var generationInUse: UInt64
    /// The slots whose lines have failed for good since the last report, one bit each.
    ///
    /// Failures under boards older than the one in use are all here or in earlier reports.
    package var brokenLines: UInt64
    /// The slots whose devices have been started and have not taken a Stop since, one bit each.
    package var mayPlay: UInt64
    /// How far ahead, in microseconds, messages may be in the queue already: what is decided now holds only after them.
    package var horizon: Int64

    package init(
        generationInUse: UInt64 = 0, brokenLines: UInt64 = 0, mayPlay: UInt64 = 0, horizon: Int64 = 0
    ) {
        self.generationInUse = generationInUse
        self.brokenLines = brokenLines
        self.mayPlay = mayPlay
        self.horizon = horizon
    }
}

extension OutputReport {
    /// Whether this board, or a later one, is in use.
    package func isInUse(_ generation: UInt64) -> Bool { generation <= generationInUse }
    package func isLineBroken(_ slot: Int) -> Bool { brokenLines >> UInt64(slot) & 1 == 1 }
    package func mayPlay(_ slot: Int) -> Bool { mayPlay >> UInt64(slot) & 1 == 1 }
}

extension OutputReport {
    /// Adds the outputs' counters, and clears what they report about broken lines.
    ///
    /// Only one thread may call it.
    ///
    /// - Parameters:
    ///   - counters: of the outputs.
    ///   - slots: how many of them are in use.
    mutating func add(_ counters: borrowing PageArray<OutputCounters>, slots: Int) {
        for slot in 0..<slots {
            if counters[slot].isLineBroken.exchange(false, ordering: .relaxed) { brokenLines |= 1 << UInt64(slot) }
            if counters[slot].mayPlay.load(ordering: .relaxed) { mayPlay |= 1 << UInt64(slot) }
        }
    }
}

extension OutputThread {
    /// The thread's present report; only one other thread may call this.
    ///
    /// - Parameter slots: the number of slots in use.
    /// - Returns: the report.
    package func report(slots: Int) -> OutputReport {
        // Read the generation first: a line that failed under an older board is then in this report at the latest.
        var report = OutputReport(generationInUse: generationInUse, horizon: horizon)
        report.add(counters, slots: slots)
        return report
    }
}
