package import BeatTime

/// The tempo that somebody taps, worked out from when the taps fell.
///
/// The first tap says nothing; from the second on their mean distance is the tempo. What does not fit, because it
/// comes too soon or too late after the one before, begins anew.
package struct TapTempo: Sendable {
    private var taps: [HostTime] = []

    /// More than that say nothing new of a tempo that may be changing.
    private static let most = 8
    /// Two taps nearer than that are one, in microseconds: a beat at 999 BPM lasts no longer.
    private static let bounce: Int64 = 60_000
    /// Two taps further apart than that are not of one tempo, in microseconds: a beat at 20 BPM lasts no longer.
    private static let longest: Int64 = 3_000_000

    package init() {}

    /// Takes a tap.
    ///
    /// - Parameter time: on whatever clock; a tap from another one does not fit, and begins anew.
    /// - Returns: the tempo tapped so far, to a tenth; nil as long as there is none.
    package mutating func tapped(at time: HostTime) -> Tempo? {
        if let last = taps.last {
            let distance = last.microseconds(to: time)
            if (0..<Self.bounce).contains(distance) { return tempo }
            if !fits(distance) { taps = (Self.bounce...Self.longest).contains(distance) ? [last] : [] }
        }
        taps.append(time)
        if taps.count > Self.most { taps.removeFirst() }
        return tempo
    }

    /// Whether a distance is one of the beats tapped so far, give or take a third.
    private func fits(_ distance: Int64) -> Bool {
        guard (Self.bounce...Self.longest).contains(distance) else { return false }
        guard let beat else { return true }
        return (beat * 2 / 3...beat * 4 / 3).contains(Double(distance))
    }

    /// The mean distance of the taps, in microseconds.
    private var beat: Double? {
        guard let first = taps.first, let last = taps.last, taps.count > 1 else { return nil }
        return Double(first.microseconds(to: last)) / Double(taps.count - 1)
    }

    private var tempo: Tempo? {
        beat.map { Tempo(beatsPerMinute: (600_000_000 / $0).rounded() / 10).clamped }
    }
}
