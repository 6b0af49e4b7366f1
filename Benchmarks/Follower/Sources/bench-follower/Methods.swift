import BeatTime
import MIDIClock

/// A way to follow a clock: stamps in; period and time of the next tick out, in microseconds.
protocol Method {
    mutating func tick(at time: HostTime)
    /// Nil while it knows nothing.
    var period: Double? { get }
    /// When tick `number` is due, the one after the last that came; only ours looks at the number.
    func due(_ number: Int) -> Double?
    /// How many ticks its estimate rests on, where that varies.
    var window: Int? { get }
}

extension Method {
    var window: Int? { nil }
}

/// Ours.
struct Ours: Method {
    private var follower = ClockFollower()

    mutating func tick(at time: HostTime) { follower.received(.timingClock, at: time) }
    var period: Double? { follower.estimate?.microsecondsPerTick }
    func due(_ number: Int) -> Double? { follower.estimate?.microseconds(ofTick: Int64(number)) }
    var window: Int? { follower.estimate?.window }
}

/// The mean of the last intervals, the next tick one mean after the last: what most open programs do.
struct MeanOfIntervals: Method {
    let length: Int
    private var stamps: [Double] = []

    init(_ length: Int) { self.length = length }

    mutating func tick(at time: HostTime) {
        stamps.append(Double(time.microseconds))
        if stamps.count > length + 1 { stamps.removeFirst() }
    }
    var period: Double? {
        guard let first = stamps.first, let last = stamps.last, stamps.count > 1 else { return nil }
        return (last - first) / Double(stamps.count - 1)
    }
    func due(_ number: Int) -> Double? { period.flatMap { mean in stamps.last.map { $0 + mean } } }
}

/// A second-order delay-locked loop at a fixed bandwidth, as in Fons Adriaensen's "Using a DLL to filter time".
struct DelayLockedLoop: Method {
    /// Radians per tick.
    let omega: Double
    private var last: Double?
    private var next = 0.0
    private(set) var period: Double?

    init(omega: Double) { self.omega = omega }

    mutating func tick(at time: HostTime) {
        let now = Double(time.microseconds)
        if let period {
            let error = now - next
            next += 2.0.squareRoot() * omega * error + period
            self.period = period + omega * omega * error
        } else if let last {
            period = now - last
            next = now + now - last
        }
        last = now
    }
    func due(_ number: Int) -> Double? { period.map { _ in next } }
}

/// A least-squares line through the last stamps.
struct LeastSquares: Method {
    let length: Int
    private var stamps: [Double] = []
    private var next = 0.0
    private(set) var period: Double?

    init(_ length: Int) { self.length = length }

    mutating func tick(at time: HostTime) {
        stamps.append(Double(time.microseconds))
        if stamps.count > length { stamps.removeFirst() }
        guard stamps.count > 1 else { return }
        let count = Double(stamps.count)
        let middle = (count - 1) / 2
        let mean = stamps.reduce(0) { $0 + ($1 - stamps[0]) } / count + stamps[0]
        let product = stamps.enumerated().reduce(0) { $0 + (Double($1.offset) - middle) * ($1.element - mean) }
        let slope = product / (count * (count * count - 1) / 12)
        next = mean + (count - middle) * slope
        period = slope
    }
    func due(_ number: Int) -> Double? { period.map { _ in next } }
}
