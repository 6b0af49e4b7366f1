import BeatTime
import MIDIClock

/// A way to follow a clock: stamps in, period and the time of the next tick out, in microseconds.
protocol Method {
    mutating func tick(at time: HostTime)
    /// Nil while it knows nothing.
    var period: Double? { get }
    /// When tick `number` is due, the one after the last that was delivered; only ours looks at the number.
    func due(_ number: Int) -> Double?
    /// How many ticks its estimate rests on now, where that is a number.
    var window: Int? { get }
}

extension Method {
    var window: Int? { nil }
}

/// Ours.
struct Ours: Method {
    var follower = ClockFollower()
    mutating func tick(at time: HostTime) { follower.received(.timingClock, at: time) }
    var period: Double? { follower.estimate?.microsecondsPerTick }
    var window: Int? { follower.estimate?.window }
    func due(_ number: Int) -> Double? { follower.estimate?.microseconds(ofTick: Int64(number)) }
}

/// The mean of the last intervals, the next tick one mean after the last: what most open programs do.
struct MeanOfIntervals: Method {
    let length: Int
    var stamps: [Double] = []

    mutating func tick(at time: HostTime) {
        stamps.append(Double(time.microseconds))
        if stamps.count > length + 1 { stamps.removeFirst() }
    }
    var period: Double? {
        stamps.count < 2 ? nil : (stamps[stamps.count - 1] - stamps[0]) / Double(stamps.count - 1)
    }
    func due(_ number: Int) -> Double? { period.map { stamps[stamps.count - 1] + $0 } }
}

/// Adriaensen's second-order delay-locked loop at a fixed bandwidth, in radians per tick.
struct DelayLockedLoop: Method {
    let omega: Double
    var last: Double?
    var next = 0.0
    var step: Double?

    mutating func tick(at time: HostTime) {
        let now = Double(time.microseconds)
        if let step {
            let error = now - next
            next += 2.0.squareRoot() * omega * error + step
            self.step = step + omega * omega * error
        } else if let last {
            step = now - last
            next = now + now - last
        }
        last = now
    }
    var period: Double? { step }
    func due(_ number: Int) -> Double? { step.map { _ in next } }
}

/// A least-squares line through the last stamps.
struct LeastSquares: Method {
    let length: Int
    var stamps: [Double] = []
    var line: (next: Double, period: Double)?

    mutating func tick(at time: HostTime) {
        stamps.append(Double(time.microseconds))
        if stamps.count > length { stamps.removeFirst() }
        guard stamps.count > 1 else { return }
        let count = Double(stamps.count)
        let middle = (count - 1) / 2
        let mean = stamps.reduce(0) { $0 + ($1 - stamps[0]) } / count + stamps[0]
        let product = stamps.enumerated().reduce(0) { $0 + (Double($1.offset) - middle) * ($1.element - mean) }
        let period = product / (count * (count * count - 1) / 12)
        line = (mean + (count - middle) * period, period)
    }
    var period: Double? { line?.period }
    func due(_ number: Int) -> Double? { line?.next }
}
