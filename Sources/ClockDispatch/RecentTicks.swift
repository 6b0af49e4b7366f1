package import BeatTime
internal import Synchronization

/// The last minute of an output's ticks; the output thread notes them, any thread reads.
///
/// The minute is kept in spans, so it is up to one span shorter. A reader that comes while a span begins may miss that
/// span's first tick.
package struct RecentTicks: ~Copyable, Sendable {
    /// Length of a span, in microseconds.
    private static let span: Int64 = 5_000_000
    private static let spans: Int64 = 12

    /// A ``Tally`` for each span, packed into a word, so that a reader sees its counts as of the same moment.
    private let words = InlineArray<12, Atomic<UInt64>> { _ in Atomic(0) }
    /// Number of the newest span, counted from host time 0.
    private let newest = Atomic<Int64>(0)

    /// Counts of some ticks, and their largest lateness.
    package struct Tally: Hashable, Sendable {
        package fileprivate(set) var ticks = 0
        /// Ticks sent more than 1 ms late, or skipped.
        package fileprivate(set) var late = 0
        /// The largest lateness in microseconds, 1 s at most.
        package fileprivate(set) var worst: Int64 = 0

        /// Whether more than one in so many is late, and at least three are.
        package func isLate(moreThanOneIn share: Int) -> Bool { late >= 3 && late * share > ticks }

        fileprivate init() {}

        fileprivate init(word: UInt64) {
            let mask = UInt64(Self.most)
            (ticks, late, worst) = (Int(word & mask), Int(word >> 22 & mask), Int64(word >> 44))
        }

        /// The most that a span may count, which 5 s of sent ticks cannot reach.
        fileprivate static let most = 0x3F_FFFF

        /// 22 bits for each count, and 20 for the lateness.
        fileprivate var word: UInt64 { UInt64(ticks) | UInt64(late) << 22 | UInt64(worst) << 44 }

        fileprivate static func += (left: inout Tally, right: Tally) {
            left.ticks += right.ticks
            left.late += right.late
            left.worst = max(left.worst, right.worst)
        }
    }

    /// Whether a tick counts as late: by more than 1 ms.
    static func isLate(_ lateness: Int64) -> Bool { lateness > 1_000 }

    /// Clears everything; on the output thread.
    func reset() {
        for index in words.indices { words[index].store(0, ordering: .relaxed) }
    }

    /// Notes a sent tick, or some that are skipped; on the output thread.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - lateness: in microseconds.
    ///   - time: when it was sent, or when they were skipped.
    ///   - areCounted: whether they have been noted before, as being on time.
    func note(_ count: Int = 1, lateness: Int64, at time: HostTime, areCounted: Bool = false) {
        let number = time.microseconds / Self.span
        let last = newest.load(ordering: .relaxed)
        if number != last {
            for passed in max(last + 1, number - Self.spans + 1)...max(last + 1, number) {
                words[Int(passed % Self.spans)].store(0, ordering: .relaxed)
            }
            newest.store(number, ordering: .releasing)
        }
        let index = Int(number % Self.spans)
        var tally = Tally(word: words[index].load(ordering: .relaxed))
        let count = min(count, Tally.most)
        if !areCounted { tally.ticks = min(tally.ticks + count, Tally.most) }
        if Self.isLate(lateness) { tally.late = min(tally.late + count, Tally.most) }
        tally.worst = max(tally.worst, min(lateness, 1_000_000))
        words[index].store(tally.word, ordering: .relaxed)
    }

    /// The ticks of the last minute, or of the last `count` spans.
    func tally(at time: HostTime, spans count: Int64 = spans) -> Tally {
        let (now, last) = (time.microseconds / Self.span, newest.load(ordering: .acquiring))
        var sum = Tally()
        for number in stride(from: max(now - count, last - Self.spans) + 1, through: last, by: 1) where number >= 0 {
            sum += Tally(word: words[Int(number % Self.spans)].load(ordering: .relaxed))
        }
        return sum
    }
}

extension OutputCounters {
    /// The ticks of the last minute.
    package func lastMinute(at time: HostTime) -> RecentTicks.Tally { recent.tally(at: time) }

    /// Whether more than one in a hundred of the last five to ten seconds' ticks was late.
    package func isOftenLate(at time: HostTime) -> Bool {
        recent.tally(at: time, spans: 2).isLate(moreThanOneIn: 100)
    }
}
