/// Which of the sounds heard belongs to which beat sent.
///
/// Nothing is assumed about how late the machine is: the part of the beat in which most sounds fall is where its hits
/// are, and each beat has the nearest of them.
struct BeatMatch {
    /// A beat and its hit.
    struct Pair {
        /// The number of the beat.
        var beat: Int
        var sent: Double
        var hit: Hit
        /// Microseconds from the beat to its hit.
        var delay: Double { hit.time - sent }
    }

    let pairs: [Pair]
    /// Sounds that belong to no beat.
    let extras: Int
    /// Beats that there are.
    let beats: Int
    /// Microseconds from one beat to the next.
    let interval: Double
    /// Where in the beat the hits are, in microseconds from the nearest beat.
    let phase: Double
    /// Whether no sound is heard after the last that belongs to a beat.
    private let hasNothingAfterwards: Bool

    /// This share of the beats must have a hit.
    private static let leastMatched = 0.75
    /// How far from ``phase`` a hit may be, in microseconds; no machine that keeps time varies so much.
    private static let widest = 20_000.0
    /// So many beats without a sound are no gap in a pattern.
    private static let leastSilence = 8

    /// - Parameters:
    ///   - hits: sounds, in order.
    ///   - beats: when each beat was sent; at least two.
    init(_ hits: [Hit], _ beats: [Double]) {
        let interval = median(zip(beats.dropFirst(), beats).map { $0 - $1 })
        let width = min(Self.widest, interval / 16)
        let heard = hits.filter { $0.time > beats[0] - interval / 2 && $0.time < beats[beats.count - 1] + interval / 2 }
        var near = NearestSearch(beats)
        let phases = heard.compactMap { hit in near.nearest(to: hit.time).map { hit.time - beats[$0] } }
        let phase = Self.densest(phases, width: width, interval: interval)
        var (pairs, hits) = ([Pair](), NearestSearch(heard.map(\.time)))
        for (number, beat) in beats.enumerated() {
            guard let index = hits.nearest(to: beat + phase), abs(heard[index].time - beat - phase) <= width else {
                continue
            }
            pairs.append(Pair(beat: number, sent: beat, hit: heard[index]))
            hits.take()
        }
        self.pairs = pairs
        extras = heard.count - pairs.count
        self.beats = beats.count
        hasNothingAfterwards = pairs.last.map { $0.hit.time == heard.last?.time } ?? false
        self.interval = interval
        self.phase = phase
    }

    /// Sounds near the beats, those that belong to none included.
    var heard: Int { pairs.count + extras }

    /// Whether there are sounds at all: one for every fourth beat.
    var hasSound: Bool { heard >= beats / 4 }

    /// Whether enough of the beats have a hit.
    var isRegular: Bool { Double(pairs.count) >= Self.leastMatched * Double(beats) }

    /// The beats after which nothing was heard any more, where so many had a hit before; nil if it is not so.
    var silentAfter: Int? {
        guard hasNothingAfterwards, let last = pairs.last else { return nil }
        let count = last.beat + 1
        guard beats - count >= Self.leastSilence else { return nil }
        return Double(pairs.count) >= Self.leastMatched * Double(count) ? count : nil
    }

    /// The middle of the part of a beat in which most sounds are; the beat is a circle.
    private static func densest(_ phases: [Double], width: Double, interval: Double) -> Double {
        let sorted = phases.sorted()
        guard !sorted.isEmpty else { return 0 }
        let twice = sorted + sorted.map { $0 + interval }
        var (best, end) = (0..<1, 0)
        for start in sorted.indices {
            end = max(end, start)
            while end < twice.count, twice[end] - twice[start] <= 2 * width { end += 1 }
            if end - start > best.count { best = start..<end }
        }
        let middle = median(Array(twice[best]))
        return middle >= interval / 2 ? middle - interval : middle
    }
}

/// A sound that was heard, by this machine's clock.
package struct Hit: Hashable, Sendable {
    /// When it began, in microseconds.
    package var time: Double
    /// How far that may be off because the sound does not begin at once, in microseconds.
    package var error: Double
    package var isClipped: Bool

    package init(time: Double, error: Double, isClipped: Bool = false) {
        self.time = time
        self.error = error
        self.isClipped = isClipped
    }
}
