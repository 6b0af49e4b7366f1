/// Notices a leader whose clock arrives twice, through two cables or subscriptions, and drops the second copies.
///
/// The distances of such ticks alternate steadily: short between the copies, long between the ticks. So do those of a coarse
/// clock with two ticks in each audio period or packet, which a MIDI cable keeps a third of a millisecond apart. Where it can
/// be either, they are copies if the tempo would be above 180 BPM otherwise.
struct TwinFilter: Sendable {
    /// What an arrival is.
    enum Finding {
        case tick
        /// The second copy of a tick.
        case twin
        /// From here on only every second arrival is a tick; so it was for so many arrivals before this one.
        ///
        /// The first of those may have been a single tick, before the first that came twice.
        case begins(isTwin: Bool, arrivals: Int64, isFirstSingle: Bool)
    }

    /// Distance of the copies in microseconds while the clock arrives twice, else nil.
    private(set) var distance: Int64?
    private var last: Int64?
    /// While the clock arrives twice, when the last tick came, and how long after the one before.
    private var tick = (time: Int64(0), period: Int64(0))
    /// The last of each transport message, and when it came.
    private var messages = InlineArray<4, (message: ClockMessage, time: Int64)?>(repeating: nil)
    /// Few enough to be decided before a clock can be locked.
    private var gaps = InlineArray<22, Int64>(repeating: 0)
    private var count = 0
    /// How many gaps have been short and long by turns until now, and whether the newest is a long one.
    private var turns = (count: Int64(0), isLong: false)
    private var expectsTwin = false
    private var missing = 0

    /// Distances of two copies, in microseconds.
    private static let distances: ClosedRange<Int64> = 250...8_500
    /// Below this distance, in microseconds, they may be two ticks of one audio period or packet.
    private static let closest: Int64 = 900
    /// From two such ticks to the next two, in microseconds: at least that of 180 BPM.
    private static let shortestOfTwo: Int64 = 27_778
    /// Second copies in a row that may be missing.
    private static let mostMissing = 4

    /// Processes an arrival at a time in microseconds.
    mutating func take(_ time: Int64) -> Finding {
        guard let last else {
            self.last = time
            return .tick
        }
        let gap = time &- last
        self.last = time
        if let distance { return follow(gap, distance, time) }
        noteTurn(gap)
        gaps[count % gaps.count] = gap
        count += 1
        guard count >= gaps.count, let found = steady else { return .tick }
        (distance, missing) = (found.distance, 0)
        tick = (found.endsWithTwin ? time &- gap : time, found.period)
        expectsTwin = !found.endsWithTwin
        let isFirstLong = turns.isLong == (turns.count % 2 == 1)
        return .begins(isTwin: found.endsWithTwin, arrivals: turns.count, isFirstSingle: isFirstLong)
    }

    private mutating func noteTurn(_ gap: Int64) {
        guard count > 0 else { return turns = (1, false) }
        let former = gaps[(count - 1) % gaps.count]
        let isTurn = former < gap / 3 * 2 || gap < former / 3 * 2
        let isLong = former < gap
        turns = (isTurn && (turns.count == 1 || isLong != turns.isLong) ? turns.count + 1 : 1, isLong)
    }

    /// The greatest distance of two copies, in microseconds.
    private func farthest(_ distance: Int64) -> Int64 { min(distance * 3 / 2 + 1_000, tick.period / 2) }

    private mutating func follow(_ gap: Int64, _ distance: Int64, _ time: Int64) -> Finding {
        if expectsTwin, gap <= farthest(distance) {
            (expectsTwin, missing) = (false, 0)
            return .twin
        }
        if expectsTwin {
            missing += 1
            if missing > Self.mostMissing { (self.distance, count) = (nil, 0) }
        }
        expectsTwin = self.distance != nil
        tick = (time, time &- tick.time)
        return .tick
    }

    /// Whether a transport message at a time in microseconds is the second copy of one.
    mutating func isTwin(_ message: ClockMessage, at time: Int64) -> Bool {
        guard let kind = message.transport else { return false }
        let last = messages[kind]
        messages[kind] = (message, time)
        guard let distance, let last, last.message == message else { return false }
        return (0...farthest(distance)).contains(time &- last.time)
    }

    /// The distances of copies and of ticks if the last gaps alternate steadily, and whether the newest arrival is a copy.
    private var steady: (distance: Int64, period: Int64, endsWithTwin: Bool)? {
        var sums = (even: Int64(0), odd: Int64(0))
        for index in gaps.indices {
            guard (0...1_000_000).contains(gaps[index]) else { return nil }
            if index % 2 == 0 { sums.even += gaps[index] } else { sums.odd += gaps[index] }
        }
        let half = Int64(gaps.count / 2)
        let (short, long) = (min(sums.even, sums.odd) / half, max(sums.even, sums.odd) / half)
        guard Self.distances.contains(short), short * 7 < long * 3 else { return nil }
        guard short >= Self.closest || short + long < Self.shortestOfTwo else { return nil }
        for index in gaps.indices {
            let isShort = (index % 2 == 0) == (sums.even < sums.odd)
            let (mean, tolerance) = isShort ? (short, max(150, min(short, 1_000))) : (long, (short + long) / 8)
            guard abs(gaps[index] - mean) <= tolerance else { return nil }
        }
        return (short, short + long, ((count - 1) % 2 == 0) == (sums.even < sums.odd))
    }
}

extension ClockMessage {
    /// A number from 0 to 3 for each kind of transport message.
    fileprivate var transport: Int? {
        switch self {
        case .timingClock: nil
        case .start: 0
        case .continue: 1
        case .stop: 2
        case .songPosition: 3
        }
    }
}
