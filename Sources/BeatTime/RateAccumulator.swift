/// A time shift that an output still has to make up, and how fast it does so.
///
/// When the timeline moves a little, an output must not jump after it, but must not ignore it either. The move becomes a
/// debt in microseconds, and the output slews to pay it back: it runs slightly too fast or too slow for a while. The debt
/// E follows E'' + 2wE' + w²E = 0, which is critically damped: a debt from one move shrinks to zero without changing its
/// sign. The equation is solved exactly, so it does not matter how often or when the debt is read.
///
/// All times are nominal, before the output's offset and debt are added. A plain value; it never allocates.
///
/// ```swift
/// var owed = RateAccumulator()
/// let start = HostTime(microseconds: 0)
/// owed.owe(800, at: start)
/// assert(owed.debt(at: start) == 800)
/// assert(owed.debt(at: start.advanced(byMicroseconds: 10_000_000)) < 1)
/// ```
public struct RateAccumulator: Hashable, Sendable, BitwiseCopyable {
    /// When something was last added.
    ///
    /// `debt` and `slope` hold the values at that time.
    private var origin = HostTime(microseconds: 0)
    /// E, in microseconds; positive means the output sends later than the timeline says.
    private var debt = 0.0
    /// E', in microseconds per microsecond.
    private var slope = 0.0
    /// w, the inverse of the time constant, per microsecond.
    private var decay = 0.0

    /// Largest rate deviation after a move that leaves more than 1 ms owed: 0.5 %, which is inaudible.
    public static let rateLimit = 0.005
    /// Largest rate deviation after a move that leaves at most 1 ms owed: 0.1 %.
    public static let smallRateLimit = 0.001
    /// Largest rate deviation after a move while the debt is beyond what the caller tolerates: 3 %.
    public static let hurriedRateLimit = 0.03
    /// Fastest fall of the debt while a gradual tempo change is paid back, in microseconds per microsecond.
    ///
    /// At 1, the output would send all ticks at the same moment.
    private static let fastestRepayment = 0.9
    /// Shortest time constant for moves, in microseconds; gradual tempo changes choose their own.
    public static let shortestTimeConstant = 100_000.0

    public init() {}

    /// True if nothing was ever owed.
    public var isUnused: Bool { decay == 0 }

    /// The debt at a time, in microseconds; positive means the output sends later than the timeline says.
    ///
    /// For a time before the last change, this is the debt at that change.
    public func debt(at time: HostTime) -> Double { state(at: time).debt }

    /// How fast the debt grows at a time, in microseconds per microsecond.
    ///
    /// This is also the relative change of the beat's length: at 0.005, beats are 0.5 % longer.
    public func slope(at time: HostTime) -> Double { state(at: time).slope }

    /// Adds a move to the debt at once.
    ///
    /// The debt is then paid back slowly enough that the rate deviates by at most ``rateLimit``, or by at most
    /// ``smallRateLimit`` if the whole debt is 1 ms or less. If the rate already deviates by more, the deviation does
    /// not grow.
    ///
    /// - Parameters:
    ///   - microseconds: the move; positive means later.
    ///   - time: when it happens.
    ///   - tolerance: a greater debt is paid back at up to ``hurriedRateLimit``; in microseconds.
    public mutating func owe(_ microseconds: Double, at time: HostTime, hurryAbove tolerance: Double = .infinity) {
        (debt, slope) = state(at: time)
        origin = max(origin, time)
        debt += microseconds
        let limit =
            abs(debt) <= 1_000
            ? Self.smallRateLimit : abs(debt) <= tolerance ? Self.rateLimit : Self.hurriedRateLimit
        decay = min(1 / Self.shortestTimeConstant, limit * Self.e / max(abs(debt), 1e-9))
        // If the debt is already changing, the rate may peak above the limit. A longer time constant lowers the peak.
        while steepest > max(limit, abs(slope)), decay > 1e-9 { decay *= 0.8 }
    }

    /// Adds a change of rate that fades out; used to make a tempo change gradual.
    ///
    /// The output first keeps the old tempo, so the debt grows, to at most slope/(e·w). While the debt is paid back,
    /// the rate overshoots the new tempo by e^-2, which is 13.5 % of the change. Several changes multiply, because each
    /// is a share of the current beat's length. The slope is limited to between -0.9 and 1, so a beat lasts at most
    /// twice as long as the timeline says; the output follows the rest of a larger change at once. Ticks never go back
    /// in time, since the debt falls by less than 1 us per us.
    ///
    /// - Parameters:
    ///   - added: the change of rate, in microseconds per microsecond; above -1.
    ///   - timeConstant: 1/w in microseconds; above 0. It is made longer if the debt would fall too fast.
    ///   - time: when the change begins.
    public mutating func owe(slope added: Double, over timeConstant: Double, at time: HostTime) {
        (debt, slope) = state(at: time)
        origin = max(origin, time)
        slope = min(max((1 + slope) * (1 + added) - 1, -Self.fastestRepayment), 1)
        decay = 1 / timeConstant
        while repaymentSpeed > Self.fastestRepayment, decay > 1e-9 { decay *= 0.8 }
    }

    /// Debt and slope at a time.
    ///
    /// With k = E' + wE, the solution is E(t) = (E + kt)·exp(-wt) and E'(t) = (E' - wkt)·exp(-wt). `drive` is k.
    private func state(at time: HostTime) -> (debt: Double, slope: Double) {
        let elapsed = max(0, Double(origin.microseconds(to: time)))
        guard elapsed * decay < 60 else { return (0, 0) }
        let fading = exponential(-elapsed * decay)
        let drive = slope + decay * debt
        return ((debt + drive * elapsed) * fading, (slope - decay * drive * elapsed) * fading)
    }

    /// The largest slope from `origin` on, without its sign.
    private var steepest: Double { max(abs(slope), abs(turningSlope)) }

    /// Fastest fall of the debt from `origin` on, as a positive number.
    private var repaymentSpeed: Double { -min(slope, turningSlope) }

    /// The slope at its extreme after `origin`; 0 if there is none.
    ///
    /// The extreme is where the slope's derivative, proportional to (drive + slope) - w·drive·t, is zero.
    private var turningSlope: Double {
        let drive = slope + decay * debt
        guard drive != 0, 1 + slope / drive > 0 else { return 0 }
        return -drive * exponential(-1 - slope / drive)
    }

    private static let e = 2.718281828459045
}

/// e to the given power, which must be zero or negative; the same on every machine.
///
/// A whole number of ln 2 is taken out of the power, so that the rest lies within ±(ln 2)/2. There, fourteen terms of
/// the series are accurate except for the last few bits. The result is then scaled by the power of two, which is exact.
func exponential(_ power: Double) -> Double {
    guard power > -700 else { return 0 }
    let ln2 = 0.6931471805599453
    let twos = (power / ln2).rounded()
    let rest = power - twos * ln2
    var sum = 1.0
    for term in stride(from: 14.0, to: 0, by: -1) { sum = 1 + sum * rest / term }
    return sum * Double(sign: .plus, exponent: Int(twos), significand: 1)
}
