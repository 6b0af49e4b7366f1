package import BeatTime

/// Computes a tempo from the times of taps.
///
/// A tempo is told once so many taps agree that it is at most a tenth off even if one of them is a slip: three of a machine,
/// four or so of a hand. A tap that does not fit is left out, and a gap of two beats is a skipped tap. Two taps in succession that do
/// not fit begin another tempo.
package struct TapTempo: Sendable {
    private var taps: [HostTime] = []

    /// What the taps say so far.
    package struct Reading: Hashable, Sendable {
        /// How many taps agree.
        package var counted: Int
        /// How many must agree; more than ``counted`` while there is no tempo.
        package var wanted: Int
        /// The tempo, rounded to a hundredth; nil while too few taps agree, or if this one adds nothing.
        package var tempo: Tempo?
    }

    /// Most taps used; older ones would distort a tempo that is changing.
    private static let most = 16
    /// Shortest distance of two taps, in microseconds; anything closer is one tap.
    private static let bounce: Int64 = 150_000
    /// Longest distance of two taps of one series, in microseconds: a skipped tap at 30 BPM, a little late.
    package static let longest: Int64 = 4_300_000

    package init() {}

    /// Takes a tap.
    ///
    /// - Parameter time: on any clock; taps on different clocks do not fit together, so one of them starts over.
    /// - Returns: what the taps say now.
    package mutating func tapped(at time: HostTime) -> Reading {
        if let last = taps.last {
            let distance = last.microseconds(to: time)
            if (0..<Self.bounce).contains(distance) { return reading(isNew: false) }
            if !(Self.bounce...Self.longest).contains(distance) { taps = [] }
        }
        taps.append(time)
        if taps.count > Self.most { taps.removeFirst() }
        return reading(isNew: true)
    }

    private func reading(isNew: Bool) -> Reading {
        let times = taps.map { Double(taps[0].microseconds(to: $0)) }
        let lines = TapLine.lines(through: times)
        guard let best = lines.min() else { return Reading(counted: 1, wanted: TapLine.fewest) }
        // Two taps are in any tempo, so of those that two agree on none says anything.
        let hasRival = lines.contains { $0.isAsGood(as: best) && !$0.hasSameTempo(as: best) }
        guard best.isCertain, best.hasNewest, !hasRival else {
            return Reading(counted: best.count, wanted: max(TapLine.fewest, best.count + 1))
        }
        let tempo = Tempo(beatsPerMinute: (6_000_000_000 / best.beat).rounded() / 100)
        return Reading(counted: best.count, wanted: best.count, tempo: isNew ? tempo : nil)
    }
}
