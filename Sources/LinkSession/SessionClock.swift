import BeatTime

/// A joined session's clock beside our own: offset and drift, out of all that was measured in the last minute.
///
/// Each burst of round trips is a gate that the straight line of offset over time must pass. The line taken is the one
/// with the most room to both sides in all gates. It costs nothing that most datagrams are late, as long as some are
/// not, and the error falls with the number of round trips instead of its square root.
struct SessionClock: Sendable {
    /// Of the last minute, in the order of time.
    private var bursts: [Burst]
    /// One that fits none of the others; another like it proves it right.
    private var suspect: Burst?
    /// What the session's clock gains on ours for each of our microseconds.
    private(set) var drift = 0.0
    /// When, and how far ahead the session's clock was then.
    private var anchor: OffsetBound
    /// The room to either side of the line.
    private var room: Double
    /// How far the clock may well be from the truth, in microseconds.
    private(set) var errorMicroseconds: Double

    private static let window: Int64 = 64_000_000
    /// No two crystals lie further apart.
    private static let driftLimit = 1e-3
    /// What is usual between crystals, and how much room, in microseconds, a line may lose to be more usual.
    private static let usualDrift = 50e-6
    private static let priceOfDrift = 10.0
    /// What a prediction may miss by: in microseconds, and for each microsecond since the last burst.
    private static let tolerance = 20.0
    private static let driftTolerance = 100e-6

    init(_ first: Burst) {
        bursts = [first]
        let (low, high) = first.range(at: first.time, drift: 0)
        anchor = OffsetBound(time: first.time, offset: (low + high) / 2)
        room = (high - low) / 2
        errorMicroseconds = first.error
    }

    /// The transform to be used at a time.
    func transform(at now: HostTime) -> GhostTransform {
        GhostTransform(intercept: roundedToInteger(anchor.offset(at: now, drift: drift)))
    }

    /// Takes a burst into account, unless it contradicts all that is known; the second in a row that does so in the
    /// same way is believed, and the past forgotten.
    ///
    /// What the founder itself has told ends all hearsay: a member's error is as large as its own measurement's, and
    /// would bend the line as long as it counts.
    mutating func add(_ burst: Burst) {
        let endsHearsay = burst.isFirstHand && !bursts.contains(where: \.isFirstHand)
        if endsHearsay || fits(burst) {
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

    /// Draws the line anew.
    private mutating func fit(at now: HostTime) {
        // One gate says nothing of a slope; then what was known of it before still holds.
        if bursts.count > 1 { drift = widestDrift(at: now) }
        let (low, high) = range(at: now, drift: drift)
        anchor = OffsetBound(time: now, offset: (low + high) / 2)
        room = max(0, high - low) / 2
        let errors = bursts.map(\.error).sorted()
        errorMicroseconds = errors[errors.count / 2] / Double(errors.count).squareRoot()
    }

    /// What all bursts together allow at a time.
    private func range(at now: HostTime, drift: Double) -> (low: Double, high: Double) {
        var (low, high) = (-Double.infinity, Double.infinity)
        for burst in bursts {
            let range = burst.range(at: now, drift: drift)
            low = max(low, range.low)
            high = min(high, range.high)
        }
        return (low, high)
    }

    /// The drift with the most room; the room has a single peak, so the search closes in on it from both sides.
    private func widestDrift(at now: HostTime) -> Double {
        func room(_ drift: Double) -> Double {
            let (low, high) = range(at: now, drift: drift)
            let unusual = drift / Self.usualDrift
            return high - low - Self.priceOfDrift * unusual * unusual
        }
        var (least, most) = (-Self.driftLimit, Self.driftLimit)
        while most - least > 1e-9 {
            let third = (most - least) / 3
            if room(least + third) < room(most - third) { least += third } else { most -= third }
        }
        return (least + most) / 2
    }
}
