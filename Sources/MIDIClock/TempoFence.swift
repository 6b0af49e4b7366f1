package import BeatTime

/// The range of session tempos that outputs follow, for stages where other people may change the tempo.
package struct TempoFence: Hashable, Sendable {
    /// The ends of the range, in thousandths of a beat per minute.
    package let lowest: Int64
    package let highest: Int64
    /// What outputs do while the session's tempo is outside.
    package var outside = Outside.hold

    package enum Outside: String, CaseIterable, Hashable, Sendable {
        /// They continue at the last tempo inside, and return to the session's beats when its tempo is inside again.
        case hold
        /// They halve or double the session's tempo until it is inside; `highest` must be at least twice `lowest`.
        case fold
    }

    /// Tolerance at both ends as a share, because a session's tempo is rounded to whole microseconds per beat.
    private static let tolerance = 0.000_1

    /// A fence; nil if the first tempo is not positive, or above the second.
    package init?(lowest: Int64, highest: Int64) {
        guard lowest > 0, lowest <= highest else { return nil }
        (self.lowest, self.highest) = (lowest, highest)
    }

    /// What tempos are folded into; nil unless the fence folds, and is an octave wide.
    package var folding: TempoRange? { outside == .fold ? TempoRange(lowest: lowest, highest: highest) : nil }

    package func contains(_ tempo: Tempo) -> Bool {
        let thousandths = tempo.beatsPerMinute * 1_000
        return Double(lowest) * (1 - Self.tolerance) <= thousandths
            && thousandths <= Double(highest) * (1 + Self.tolerance)
    }

    /// The tempo inside that is nearest to another.
    package func nearest(to tempo: Tempo) -> Tempo {
        let bounds = (Double(lowest) / 1_000, Double(highest) / 1_000)
        return Tempo(beatsPerMinute: min(max(tempo.beatsPerMinute, bounds.0), bounds.1))
    }
}
