internal import BeatTime

/// Computes when each sample of a sound card was taken, on this computer's clock.
///
/// The driver reports from time to time how many samples there are. The numbers grow in steps, a report may be late by
/// chance, and the card's crystal runs up to 200 ppm fast or slow. A straight line is therefore fitted to the median of
/// each half second, so that a single report that is 20 ms late has no effect.
struct SampleClock: Sendable {
    private let sampleRate: Double
    /// The first stamp, from which samples and microseconds are counted.
    private var origin: (samples: Double, microseconds: Double)?
    /// Stamps of the newest half second.
    private var newest: [Stamp] = []
    /// The median of the stamps of each earlier half second.
    private var points: [Stamp] = []
    /// The lag at the origin in microseconds, its growth per sample, and its standard error in microseconds.
    private var line: (start: Double, slope: Double, error: Double)?

    /// A stamp, relative to the origin.
    private struct Stamp {
        /// Number of samples since the origin.
        var samples: Double
        /// How much later than at the nominal sample rate that number was reached, in microseconds.
        var lag: Double
    }

    /// Largest number of half seconds that are kept: 20 minutes.
    private static let mostPoints = 2_400
    /// Largest number of stamps that are kept of one half second.
    private static let mostStamps = 1_000
    /// Smallest number of points to fit a line to.
    private static let leastPoints = 4

    init(sampleRate: Double) { self.sampleRate = sampleRate }

    /// Adds a stamp from the driver.
    ///
    /// - Parameters:
    ///   - samples: the number of samples since the start of the stream.
    ///   - microseconds: the time at which that number was reached.
    mutating func add(samples: Int, at microseconds: Double) {
        let (samples, first) = (Double(samples), origin ?? (Double(samples), microseconds))
        origin = first
        let count = samples - first.samples
        let stamp = Stamp(samples: count, lag: microseconds - first.microseconds - count / sampleRate * 1_000_000)
        if let oldest = newest.first, stamp.samples - oldest.samples > sampleRate / 2 {
            points.append(Stamp(samples: median(newest.map(\.samples)), lag: median(newest.map(\.lag))))
            if points.count > Self.mostPoints { points.removeFirst() }
            newest = []
            fit()
        }
        if newest.count < Self.mostStamps { newest.append(stamp) }
    }

    /// When a sample was taken, in microseconds of this computer's clock; nil until there are stamps of two seconds.
    func time(ofSample sample: Double) -> Double? {
        guard let line, let origin else { return nil }
        let count = sample - origin.samples
        return origin.microseconds + count / sampleRate * 1_000_000 + line.start + line.slope * count
    }

    /// Standard error of the line, in microseconds.
    var error: Double { line?.error ?? .infinity }

    private mutating func fit() {
        guard points.count >= Self.leastPoints else { return }
        let rough = LineFit(points.map { ($0.samples, $0.lag) })
        let off = points.map { abs($0.lag - rough.value(at: $0.samples)) }
        let most = 6 * max(median(off), 1)
        let fit = LineFit(zip(points, off).filter { $1 <= most }.map { ($0.0.samples, $0.0.lag) })
        line = (fit.value(at: 0), fit.slope, fit.error)
    }
}
