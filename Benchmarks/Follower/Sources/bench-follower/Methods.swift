import BeatTime
import MIDIClock

/// A way to follow a clock: stamps in; period and time of the next tick out, in microseconds.
protocol Method: Sendable {
    mutating func tick(at time: HostTime)
    /// Nil while it knows nothing.
    var period: Double? { get }
    /// When tick `number` is due, the one after the last that came; only ours looks at the number.
    func due(_ number: Int) -> Double?
    /// Whether it says that it knows the tempo.
    var isLocked: Bool { get }
}

/// Ours.
struct Ours: Method {
    private(set) var follower = ClockFollower()

    mutating func tick(at time: HostTime) { follower.received(.timingClock, at: time) }
    var estimate: ClockEstimate? { follower.estimate }
    var period: Double? { estimate?.microsecondsPerTick }
    func due(_ number: Int) -> Double? { estimate?.microseconds(ofTick: Int64(number)) }
    var isLocked: Bool { follower.state == .locked }
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
    var isLocked: Bool { stamps.count > length }
}

/// A second-order delay-locked loop at a fixed bandwidth, as in Fons Adriaensen's "Using a DLL to filter time".
struct DelayLockedLoop: Method {
    /// Radians per tick.
    let omega: Double
    private var last: Double?
    private var next = 0.0
    private var count = 0
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
        count += 1
    }
    func due(_ number: Int) -> Double? { period.map { _ in next } }
    var isLocked: Bool { count >= 24 }
}
