/// Tells when each sample of a sound card was taken, by this machine's clock.
///
/// A driver says now and then how many samples there are by now. These stamps come in steps and late by chance, and the
/// card's crystal runs up to 200 ppm fast or slow. So a straight line is fitted to the medians of half a second each:
/// a stamp that is 20 ms late moves nothing.
struct SampleClock: Sendable {
    private let sampleRate: Double
    /// Where samples and microseconds are counted from.
    private var origin: (samples: Double, microseconds: Double)?
    /// Stamps of the newest half second.
    private var newest: [Stamp] = []
    /// One of each half second before.
    private var points: [Stamp] = []
    private var line: (start: Double, slope: Double, error: Double)?

    /// A stamp: samples since the origin, and microseconds past what the nominal sample rate makes of them.
    private struct Stamp {
        var samples: Double
        var lag: Double
    }

    /// Half seconds that are kept, 20 minutes.
    private static let mostPoints = 2_400
    /// Stamps of one half second that are kept.
    private static let mostStamps = 1_000
    /// A line through fewer tells nothing.
    private static let leastPoints = 4

    init(sampleRate: Double) { self.sampleRate = sampleRate }

    /// Takes in a stamp.
    ///
    /// - Parameters:
    ///   - samples: how many there are since the first of the stream.
    ///   - microseconds: when that was so.
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

    /// When a sample was taken, in microseconds of this machine's clock; nil until that is known.
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
