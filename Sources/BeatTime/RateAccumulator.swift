/// Time that an output still owes, in microseconds, and how fast it is being paid.
///
/// When the timeline steps, an output must neither jump nor forget the step. It owes it, and pays it back as a small
/// deviation of its rate. The debt follows E'' + 2wE' + w²E = 0, critically damped: it never rings and never
/// overshoots a step. The equation is solved exactly, so that how often and when anybody asks changes nothing,
/// and nothing is ever lost: what is owed is all there is to know.
///
/// Times are those of the timeline (nominal times), not those of sending. A plain value that allocates nothing.
///
/// ```swift
/// var owed = RateAccumulator()
/// let start = HostTime(microseconds: 0)
/// owed.owe(800, at: start)
/// assert(owed.debt(at: start) == 800)
/// assert(owed.debt(at: start.advanced(byMicroseconds: 10_000_000)) < 1)
/// ```
public struct RateAccumulator: Hashable, Sendable, BitwiseCopyable {
    /// When the debt was last added to; the two figures below are of that time.
    private var origin = HostTime(microseconds: 0)
    /// E, in microseconds; positive sends later.
    private var debt = 0.0
    /// E', in microseconds a microsecond.
    private var slope = 0.0
    /// w, in 1/microseconds: the inverse of the time constant.
    private var decay = 0.0

    /// The largest deviation of the rate while more than a millisecond is owed: half a percent, which nobody hears.
    public static let rateLimit = 0.005
    /// The largest deviation while a millisecond or less is owed: nobody could even measure it at a drum machine.
    public static let smallRateLimit = 0.001
    /// The deepest that a spread change of tempo lets the rate dip when it pays back; at 1 ticks would stand still.
    private static let deepestDip = 0.9
    /// The shortest time constant, in microseconds.
    public static let shortestTimeConstant = 100_000.0

    public init() {}

    /// Whether nothing has ever been owed since it was made or cleared.
    public var isClear: Bool { decay == 0 }

    /// What is owed at a time, in microseconds; positive sends later than the timeline says.
    ///
    /// A time before the last change counts as the time of that change.
    public func debt(at time: HostTime) -> Double { state(at: time).debt }

    /// How fast the debt grows at a time, in microseconds a microsecond: the deviation of the beat's length.
    public func slope(at time: HostTime) -> Double { state(at: time).slope }

    /// Owes a step more, at once.
    ///
    /// It is paid so slowly that the rate deviates by no more than ``rateLimit``, or ``smallRateLimit`` if a
    /// millisecond or less is owed in all.
    ///
    /// - Parameters:
    ///   - microseconds: the step; positive sends later.
    ///   - time: when it happens.
    public mutating func owe(_ microseconds: Double, at time: HostTime) {
        (debt, slope) = state(at: time)
        origin = max(origin, time)
        debt += microseconds
        let limit = abs(debt) <= 1_000 ? Self.smallRateLimit : Self.rateLimit
        decay = min(1 / Self.shortestTimeConstant, limit * Self.e / max(abs(debt), 1e-9))
        // A debt that already moves may pay faster than that at its peak; then it takes longer.
        while steepest > max(limit, abs(slope)), decay > 1e-9 { decay *= 0.8 }
    }

    /// Owes a deviation of the rate, which fades.
    ///
    /// A tempo step is spread with it: at first the old tempo goes on, and the debt grows to at most
    /// slope/(e·w) before it is paid. The rate overshoots by e^-2, 13.5 % of the step, for nothing is forgiven.
    /// One step upon another compounds, since each is a share of the beat it finds; beyond twice the beat's length the
    /// new tempo is followed at once, and time never runs backwards.
    ///
    /// - Parameters:
    ///   - added: microseconds a microsecond; above -1.
    ///   - timeConstant: 1/w in microseconds, above 0.
    ///   - time: when it begins.
    public mutating func owe(slope added: Double, over timeConstant: Double, at time: HostTime) {
        (debt, slope) = state(at: time)
        origin = max(origin, time)
        slope = min((1 + slope) * (1 + added) - 1, 1)
        decay = 1 / timeConstant
        while dip > Self.deepestDip, decay > 1e-9 { decay *= 0.8 }
    }

    /// The closed form: with k = E' + wE, E(t) = (E + kt)·exp(-wt) and E'(t) = (E' - wkt)·exp(-wt).
    private func state(at time: HostTime) -> (debt: Double, slope: Double) {
        let elapsed = max(0, Double(origin.microseconds(to: time)))
        guard elapsed * decay < 60 else { return (0, 0) }
        let fading = exponential(-elapsed * decay)
        let drive = slope + decay * debt
        return ((debt + drive * elapsed) * fading, (slope - decay * drive * elapsed) * fading)
    }

    /// The largest deviation of the rate from here on.
    private var steepest: Double { max(abs(slope), abs(turningSlope)) }

    /// By how much the rate falls below the timeline's at most.
    private var dip: Double { -min(slope, turningSlope) }

    /// The deviation of the rate where it turns back; 0 if it never does.
    ///
    /// That is where its derivative, proportional to (drive + slope) - w·drive·t, is zero.
    private var turningSlope: Double {
        let drive = slope + decay * debt
        guard drive != 0, 1 + slope / drive > 0 else { return 0 }
        return -drive * exponential(-1 - slope / drive)
    }

    private static let e = 2.718281828459045
}

/// e to a power of zero or less, the same on every machine.
///
/// The argument is brought into half of ln 2 around zero, where fourteen terms of the series are exact to the last
/// few bits; the power of two that was taken out is put back exactly.
func exponential(_ power: Double) -> Double {
    guard power > -700 else { return 0 }
    let ln2 = 0.6931471805599453
    let twos = (power / ln2).rounded()
    let rest = power - twos * ln2
    var sum = 1.0
    for term in stride(from: 14.0, to: 0, by: -1) { sum = 1 + sum * rest / term }
    return sum * Double(sign: .plus, exponent: Int(twos), significand: 1)
}
