import BeatTime
import MIDIClock
import Simulation
import Testing

/// A follower on a simulated line, with its error after every arrival.
struct FollowerRig {
    struct Reading {
        var number: Int
        /// Error of the tempo in BPM.
        var tempo: Double
        /// Error of the next tick's predicted time in microseconds, positive if too late; by its number.
        var phase: Double
        var state: ClockFollower.State
    }

    private(set) var follower = ClockFollower()
    private(set) var readings: [Reading] = []

    init(_ leader: LeaderClock) {
        for arrival in leader.arrivals {
            follower.received(.timingClock, at: arrival.time)
            guard let estimate = follower.estimate else { continue }
            let next = arrival.number + 1
            let tempo = 2_500_000 / (leader.truth[next] - leader.truth[arrival.number])
            readings.append(
                Reading(
                    number: arrival.number, tempo: estimate.beatsPerMinute - tempo,
                    phase: estimate.microseconds(ofTick: Int64(next)) - leader.truth[next], state: follower.state))
        }
    }

    /// The readings from a tick on.
    func from(_ number: Int) -> [Reading] { readings.filter { $0.number >= number } }

    /// Ticks after `start` until the tempo error stays within `bound` for 24 ticks.
    func settling(after start: Int, within bound: Double) -> Int? {
        var run = 0
        for reading in from(start) {
            run = abs(reading.tempo) <= bound ? run + 1 : 0
            if run == 24 { return reading.number - start - 23 }
        }
        return nil
    }

    /// Whether the count matches the leader's exactly, on a line with a mean delay in microseconds.
    func hasRightCount(delay: Double) -> Bool {
        guard let last = readings.last, let period = follower.estimate?.microsecondsPerTick else { return false }
        return abs(last.phase - delay) < 0.4 * period
    }
}

extension [FollowerRig.Reading] {
    var worstTempo: Double { reduce(0) { Swift.max($0, abs($1.tempo)) } }
    func worstPhase(delay: Double) -> Double { reduce(0) { Swift.max($0, abs($1.phase - delay)) } }
}

func rootMeanSquare(_ values: [Double]) -> Double {
    (values.reduce(0) { $0 + $1 * $1 } / Double(max(values.count, 1))).squareRoot()
}

func median<Value: Comparable>(_ values: [Value]) -> Value? {
    values.isEmpty ? nil : values.sorted()[values.count / 2]
}

/// A line, its mean delay in microseconds, and the deviation of a stamp on it.
struct TestLine: CustomTestStringConvertible {
    let name: String
    let jitter: LeaderClock.Jitter
    let delay: Double
    let deviation: Double

    var testDescription: String { name }

    static let all = [
        TestLine(name: "Gaussian 0.1 ms", jitter: .gaussian(100), delay: 0, deviation: 100),
        TestLine(name: "uniform 1 ms", jitter: .uniform(1_000), delay: 500, deviation: 288.7),
        TestLine(name: "Gaussian 1 ms", jitter: .gaussian(1_000), delay: 0, deviation: 1_000),
        TestLine(name: "heavy tails", jitter: .heavyTailed, delay: 405, deviation: 301.4),
    ]
}
