internal import BeatTime

/// When a sound card plays each of its frames, on this computer's clock; a frame is one sample of each channel.
///
/// The driver reports from time to time how many frames the card has played. A report may say that late, since the number
/// grows in steps, but never early. So of each group of reports only the one that is least late counts, and a straight line
/// is fitted to those of the last minute or so.
///
/// A plain value; it allocates nothing after its beginning.
package struct CardClock: Sendable {
    /// The card's nominal sample rate in Hz.
    package let sampleRate: Double
    /// The first report, from which frames and microseconds are counted.
    private var origin: (frames: Double, microseconds: Double)
    /// How many reports of the newest group there are, and the least late of them.
    private var group: (count: Int, best: Point?) = (0, nil)
    /// The least late report of each earlier group.
    private var points: [Point] = []
    /// How late the card is at the origin, in microseconds, and by how much later with each frame.
    private var lag = (start: 0.0, slope: 0.0)
    /// Smallest number of groups that say it better than it is known.
    private var leastPoints = Self.leastPoints.lowerBound
    /// Standard error of the card's rate, in parts per million.
    package private(set) var rateError = Double.infinity

    /// A report: x is the number of frames since the origin, y how much later than at the nominal sample rate that was
    /// reached, in microseconds.
    private typealias Point = (x: Double, y: Double)

    /// Number of reports in a group.
    ///
    /// Even if the number of frames grows in steps of 4 ms, the best is mostly less than 0.1 ms late.
    private static let groupSize = 64
    /// Largest number of groups that are kept: 77 s if there is a report every 5 ms.
    private static let mostPoints = 240
    /// Smallest number of groups that say how fast the card is: at first, and after it was known from many.
    private static let leastPoints = 4...60

    /// Begins with the first report.
    ///
    /// - Parameters:
    ///   - sampleRate: the card's nominal sample rate in Hz.
    ///   - frames: the number of frames that the card has played.
    ///   - microseconds: when it had, in microseconds of the host time.
    package init(sampleRate: Double, frames: Int, at microseconds: Double) {
        self.sampleRate = sampleRate
        origin = (Double(frames), microseconds)
        points.reserveCapacity(Self.mostPoints + 1)
    }

    /// Begins anew after the card has stopped; it is as fast as before.
    package mutating func restart(frames: Int, at microseconds: Double) {
        leastPoints = min(max(points.count, leastPoints), Self.leastPoints.upperBound)
        origin = (Double(frames), microseconds)
        group = (0, nil)
        lag.start = 0
        points.removeAll(keepingCapacity: true)
    }

    /// Adds a report.
    package mutating func add(frames: Int, at microseconds: Double) {
        let x = Double(frames) - origin.frames
        let point = (x: x, y: microseconds - origin.microseconds - x * period)
        group.count += 1
        if group.best.map({ lateness(point) < lateness($0) }) != false { group.best = point }
        if points.isEmpty { lag.start = min(lag.start, point.y - lag.slope * point.x) }
        guard group.count == Self.groupSize, let best = group.best else { return }
        if points.count == Self.mostPoints { points.removeFirst() }
        points.append(best)
        group = (0, nil)
        fit()
    }

    private mutating func fit() {
        guard points.count >= leastPoints else {
            return lag.start = points.reduce(0) { $0 + $1.y - lag.slope * $1.x } / Double(points.count)
        }
        let line = LineFit(points)
        lag = (line.value(at: 0), line.slope)
        rateError = line.slopeError * sampleRate
    }

    private func lateness(_ point: Point) -> Double { point.y - lag.start - lag.slope * point.x }

    /// Length of a frame at the nominal sample rate, in microseconds.
    private var period: Double { 1_000_000 / sampleRate }

    /// By how much the card is faster than its nominal sample rate, in parts per million.
    package var partsPerMillion: Double { (period / (period + lag.slope) - 1) * 1_000_000 }

    /// When a frame is played, in microseconds of the host time.
    package func time(ofFrame frame: Double) -> Double {
        origin.microseconds + lag.start + (frame - origin.frames) * (period + lag.slope)
    }

    /// The frame that is played at a time, in microseconds of the host time, with its fraction.
    package func frame(at microseconds: Double) -> Double {
        origin.frames + (microseconds - origin.microseconds - lag.start) / (period + lag.slope)
    }
}
