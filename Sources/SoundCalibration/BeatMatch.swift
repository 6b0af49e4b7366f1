/// Assigns the sounds that were heard to the beats that were sent.
///
/// It does not assume how late the machine is. It finds the place in the beat at which most sounds fall, and assigns to
/// each beat the sound nearest to that place.
struct BeatMatch {
    /// A beat and its hit.
    struct Pair {
        /// The number of the beat, from 0.
        var beat: Int
        /// When the beat was sent, in microseconds.
        var sent: Double
        var hit: Hit
        /// Microseconds from the beat to its hit; negative if the hit is early.
        var delay: Double { hit.time - sent }
    }

    let pairs: [Pair]
    /// Number of sounds that belong to no beat.
    let extras: Int
    /// Number of beats.
    let beats: Int
    /// Median time between two beats, in microseconds.
    let interval: Double
    /// Where in the beat most hits are, in microseconds after the nearest beat; negative if before it.
    let phase: Double
    /// Whether the last sound that was heard belongs to a beat.
    private let hasNothingAfterwards: Bool

    /// Smallest share of the beats that must have a hit.
    private static let leastMatched = 0.75
    /// Largest distance of a hit from ``phase``, in microseconds; a machine that keeps time varies less.
    private static let widest = 20_000.0
    /// Number of last beats without a sound that count as silence; gaps in a pattern are shorter.
    private static let leastSilence = 8

    /// Assigns sounds to beats.
    ///
    /// - Parameters:
    ///   - hits: sounds, in order of time.
    ///   - beats: when each beat was sent, in microseconds; at least two.
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

    /// Number of sounds heard during these beats, including those that belong to no beat.
    var heard: Int { pairs.count + extras }

    /// Whether there is at least one sound for every four beats.
    var hasSound: Bool { heard >= beats / 4 }

    /// Whether enough of the beats have a hit.
    var isRegular: Bool { Double(pairs.count) >= Self.leastMatched * Double(beats) }

    /// Number of beats after which the machine fell silent; nil if it did not.
    ///
    /// Enough of the beats before must have a hit.
    var silentAfter: Int? {
        guard hasNothingAfterwards, let last = pairs.last else { return nil }
        let count = last.beat + 1
        guard beats - count >= Self.leastSilence else { return nil }
        return Double(pairs.count) >= Self.leastMatched * Double(count) ? count : nil
    }

    /// The median phase of the densest group of sounds, in microseconds.
    ///
    /// A group is at most 2 · `width` wide. It may reach over the end of the interval to its start.
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

/// A sound that was heard, with its time on this computer's clock.
package struct Hit: Hashable, Sendable {
    /// When it began, in microseconds.
    package var time: Double
    /// Possible error of the time, in microseconds; larger if the sound rises slowly.
    package var error: Double
    /// Whether the recording clips there.
    package var isClipped: Bool

    package init(time: Double, error: Double, isClipped: Bool = false) {
        self.time = time
        self.error = error
        self.isClipped = isClipped
    }
}
