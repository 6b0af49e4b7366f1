import BeatTime

/// A joined session's clock relative to ours: offset and rate from the last minute's measurements.
///
/// Each burst of round trips is a gate that the line of offset over time must pass. The chosen line has the most room
/// on both sides in all gates. It does not matter that most datagrams are late, as long as some are not. The error
/// falls with the number of round trips rather than with its square root.
struct SessionClock: Sendable {
    /// Those of the last minute, in order of time.
    private var bursts: [Burst]
    /// A burst that contradicts the others; a second one like it confirms it.
    private var suspect: Burst?
    /// Microseconds that the session's clock gains on ours per microsecond.
    private(set) var drift = 0.0
    /// Lead of the session's clock at some time.
    private var anchor: OffsetBound
    /// The room on either side of the line, in microseconds.
    private var room: Double
    /// What offsets are counted from, in microseconds.
    let base: Int64
    /// Greatest possible error of the clock until the next burst is due, in microseconds.
    private var error = 0.0

    private static let window: Int64 = 64_000_000
    /// Largest difference between two crystals; that of cheap boards reaches 1000 ppm.
    private static let driftLimit = 1.2e-3
    /// Usual difference between crystals.
    private static let usualDrift = 50e-6
    /// A line with the usual drift counts as having this much less room, in microseconds.
    ///
    /// It grows with the square of the drift, so that of two lines that fit about equally the flatter one is chosen. From
    /// where it would grow by more than `steepestPenalty` of a burst's width with each usual drift, it goes on in a
    /// straight line: where bursts are narrow, as on a cable, half a second is then enough to show any drift.
    private static let driftPenalty = 10.0
    private static let steepestPenalty = 0.125
    /// Allowed error of a prediction: in microseconds, plus at least this share of the time since the last burst.
    private static let tolerance = 20.0
    private static let driftTolerance = 100e-6
    /// How far ahead the error is claimed for, in microseconds: until the next burst.
    private static let outlook = 1_000_000.0
    /// After what time without a burst that fits the error grows, in microseconds: that long one may take.
    private static let patience = 1_500_000.0

    init(_ first: Burst) {
        bursts = [first]
        base = first.base
        let (low, high) = first.range(at: first.time, drift: 0)
        anchor = OffsetBound(time: first.time, offset: (low + high) / 2)
        room = (high - low) / 2
        error = greatestError
    }

    /// The transform for a time.
    func transform(at now: HostTime) -> GhostTransform {
        GhostTransform(intercept: base &+ roundedToInteger(anchor.offset(at: now, drift: drift)))
    }

    /// Greatest possible error of the clock at a time, in microseconds.
    ///
    /// Nobody can see whether the way there takes longer than the way back. So half of the least time there and back
    /// belongs to it, and what the rate may be wrong by.
    ///
    /// It grows while nothing is measured, or nothing that fits: in whole seconds, and not before a burst is late, so that it
    /// does not change with every look.
    func errorMicroseconds(at now: HostTime) -> Double {
        let age = Double(anchor.time.microseconds(to: now))
        guard age > Self.patience else { return error }
        return error + driftDoubt * ((age / 1e6).rounded(.up) * 1e6 - Self.outlook)
    }

    /// Adds a burst, unless it contradicts everything known.
    ///
    /// If a second such burst in a row agrees with the first, both are believed and the past is forgotten. The first
    /// burst from the founder discards those from other members, whose clocks have the error of their own measurements.
    mutating func add(_ burst: Burst) {
        let isFirstOfFounder = burst.isFirstHand && !bursts.contains(where: \.isFirstHand)
        if isFirstOfFounder || fits(burst) {
            suspect = nil
            if burst.isFirstHand { bursts.removeAll { !$0.isFirstHand } }
            bursts.append(burst)
        } else if let suspect,
            Self.fits(burst, suspect.range(at: burst.time, drift: drift), since: suspect.time, Self.driftLimit)
        {
            bursts = [suspect, burst]
            self.suspect = nil
        } else {
            suspect = burst
            return
        }
        let oldest = burst.time.advanced(byMicroseconds: -Self.window)
        bursts.removeAll { $0.time < oldest }
        fit(at: burst.time)
    }

    private func fits(_ burst: Burst) -> Bool {
        let predicted = anchor.offset(at: burst.time, drift: drift)
        let doubt = max(driftDoubt, Self.driftTolerance)
        return Self.fits(burst, (predicted - room, predicted + room), since: anchor.time, doubt)
    }

    private static func fits(
        _ burst: Burst, _ range: (low: Double, high: Double), since time: HostTime, _ doubt: Double
    ) -> Bool {
        let slack = tolerance + doubt * Double(max(0, time.microseconds(to: burst.time)))
        let (low, high) = burst.range(at: burst.time, drift: 0)
        return low <= range.high + slack && range.low - slack <= high
    }

    /// What the rate may be wrong by at most: lines through the first and the last burst cannot be steeper or flatter.
    private var driftDoubt: Double {
        guard let first = bursts.first, let last = bursts.last else { return Self.driftLimit }
        let span = Double(first.time.microseconds(to: last.time))
        guard span > 0 else { return Self.driftLimit }
        let (early, late) = (first.range(at: first.time, drift: drift), last.range(at: last.time, drift: drift))
        let doubt = max((late.high - early.low) / span - drift, drift - (late.low - early.high) / span)
        return min(max(0, doubt), 2 * Self.driftLimit)
    }

    /// The greatest error until the next burst: by the burst that leaves least doubt.
    private var greatestError: Double {
        let doubt = driftDoubt
        let errors = bursts.map { burst in
            let (low, high) = burst.range(at: anchor.time, drift: drift)
            let age = Double(burst.time.microseconds(to: anchor.time))
            return max(high - anchor.offset, anchor.offset - low) + doubt * max(0, age)
        }
        // Both clocks are read in whole microseconds.
        return (errors.min() ?? 0) + doubt * Self.outlook + 1
    }

    /// Fits the line again.
    private mutating func fit(at now: HostTime) {
        // One burst says nothing about the drift; keep the old value.
        if bursts.count > 1 { drift = widestDrift(at: now) }
        let (low, high) = range(at: now, drift: drift)
        anchor = OffsetBound(time: now, offset: (low + high) / 2)
        room = max(0, high - low) / 2
        error = greatestError
    }

    /// The offsets at a time that all bursts allow.
    private func range(at now: HostTime, drift: Double) -> (low: Double, high: Double) {
        var (low, high) = (-Double.infinity, Double.infinity)
        for burst in bursts {
            let range = burst.range(at: now, drift: drift)
            low = max(low, range.low)
            high = min(high, range.high)
        }
        return (low, high)
    }

    /// The drift with the most room; there is only one maximum, so the search narrows in from both sides.
    private func widestDrift(at now: HostTime) -> Double {
        let widths = bursts.map(\.width).sorted()
        let steepest = max(Self.driftPenalty, Self.steepestPenalty * widths[widths.count / 2])
        let knee = steepest / (2 * Self.driftPenalty)
        func room(_ drift: Double) -> Double {
            let (low, high) = range(at: now, drift: drift)
            let unusual = abs(drift) / Self.usualDrift
            let bent = min(unusual, knee)
            return high - low - Self.driftPenalty * bent * bent - steepest * (unusual - bent)
        }
        var (least, most) = (-Self.driftLimit, Self.driftLimit)
        while most - least > 1e-9 {
            let third = (most - least) / 3
            if room(least + third) < room(most - third) { least += third } else { most -= third }
        }
        return (least + most) / 2
    }
}
