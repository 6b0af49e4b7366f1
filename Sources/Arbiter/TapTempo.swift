package import BeatTime

/// Computes a tempo from the times of taps.
///
/// From the second tap on, a beat is the mean distance of the taps. A tap too soon or too late after the previous one
/// starts over.
package struct TapTempo: Sendable {
    private var taps: [HostTime] = []

    /// Most taps used; older ones would distort a tempo that is changing.
    private static let most = 8
    /// Shortest distance of two taps, in microseconds, a beat at 999 BPM; anything closer is one tap.
    private static let bounce: Int64 = 60_000
    /// Longest distance of two taps of one tempo, in microseconds, a beat at 20 BPM.
    private static let longest: Int64 = 3_000_000

    package init() {}

    /// Takes a tap.
    ///
    /// - Parameter time: on any clock; taps on different clocks do not fit together, so one of them starts over.
    /// - Returns: the tempo so far, rounded to a tenth; nil until there is one.
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

    /// Whether a distance is one beat of the taps so far, within a third.
    private func fits(_ distance: Int64) -> Bool {
        guard (Self.bounce...Self.longest).contains(distance) else { return false }
        guard let beat else { return true }
        return (beat * 2 / 3...beat * 4 / 3).contains(Double(distance))
    }

    /// Mean distance of the taps, in microseconds.
    private var beat: Double? {
        guard let first = taps.first, let last = taps.last, taps.count > 1 else { return nil }
        return Double(first.microseconds(to: last)) / Double(taps.count - 1)
    }

    private var tempo: Tempo? {
        beat.map { Tempo(beatsPerMinute: (600_000_000 / $0).rounded() / 10).clamped }
    }
}
