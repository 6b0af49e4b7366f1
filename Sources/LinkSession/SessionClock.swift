import BeatTime

/// A joined session's clock relative to ours: offset and drift from the last minute's measurements.
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
    /// Likely error of the clock, in microseconds.
    private(set) var errorMicroseconds: Double

    private static let window: Int64 = 64_000_000
    /// Largest difference between two crystals.
    private static let driftLimit = 1e-3
    /// Usual difference between crystals.
    private static let usualDrift = 50e-6
    /// A line with the usual drift counts as having this much less room, in microseconds.
    ///
    /// It grows with the square of the drift, so that of two lines that fit about equally the flatter one is chosen.
    private static let driftPenalty = 10.0
    /// Allowed error of a prediction: in microseconds, plus a share of the time since the last burst.
    private static let tolerance = 20.0
    private static let driftTolerance = 100e-6

    init(_ first: Burst) {
        bursts = [first]
        let (low, high) = first.range(at: first.time, drift: 0)
        anchor = OffsetBound(time: first.time, offset: (low + high) / 2)
        room = (high - low) / 2
        errorMicroseconds = first.error
    }

    /// The transform for a time.
    func transform(at now: HostTime) -> GhostTransform {
        GhostTransform(intercept: roundedToInteger(anchor.offset(at: now, drift: drift)))
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
        } else if let suspect, Self.fits(burst, suspect.range(at: burst.time, drift: drift), since: suspect.time) {
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
        return Self.fits(burst, (predicted - room, predicted + room), since: anchor.time)
    }

    private static func fits(_ burst: Burst, _ range: (low: Double, high: Double), since time: HostTime) -> Bool {
        let slack = tolerance + driftTolerance * Double(max(0, time.microseconds(to: burst.time)))
        let (low, high) = burst.range(at: burst.time, drift: 0)
        return low <= range.high + slack && range.low - slack <= high
    }

    /// Fits the line again.
    private mutating func fit(at now: HostTime) {
        // One burst says nothing about the drift; keep the old value.
        if bursts.count > 1 { drift = widestDrift(at: now) }
        let (low, high) = range(at: now, drift: drift)
        anchor = OffsetBound(time: now, offset: (low + high) / 2)
        room = max(0, high - low) / 2
        let errors = bursts.map(\.error).sorted()
        errorMicroseconds = errors[errors.count / 2] / Double(errors.count).squareRoot()
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
        func room(_ drift: Double) -> Double {
            let (low, high) = range(at: now, drift: drift)
            let unusual = drift / Self.usualDrift
            return high - low - Self.driftPenalty * unusual * unusual
        }
        var (least, most) = (-Self.driftLimit, Self.driftLimit)
        while most - least > 1e-9 {
            let third = (most - least) / 3
            if room(least + third) < room(most - third) { least += third } else { most -= third }
        }
        return (least + most) / 2
    }
}
