import BeatTime
import Simulation

/// How a leader's ticks are delayed.
enum Delay: Sendable {
    /// They leave at the start of the next audio period.
    case frames(Int, rate: Double)
    /// They wait for the next radio packet; a share of the packets is missed, and the next one has their ticks.
    case packets(milliseconds: Double, missed: Double)
    /// They wait for the next USB frame.
    case usb
    /// A DIN line behind a timer of 0.1 ms, with other bytes in the way of one tick in ten.
    case din
    /// Independent noise; standard deviation in milliseconds.
    case gaussian(Double)

    /// The longest delay without what rarely happens, in microseconds.
    var coarseness: Double {
        switch self {
        case .frames(let frames, let rate): Double(frames) / rate * 1e6
        case .packets(let milliseconds, let missed): milliseconds * 1_000 * (missed > 0 ? 2 : 1) + 1_000
        case .usb: 1_000
        case .din: 1_060
        case .gaussian(let milliseconds): milliseconds * 6_500
        }
    }
}

/// What happens to a stream at tick ``Happening/at``.
enum Happening: String, CaseIterable {
    case step = "+20 BPM"
    case smallStep = "-2 BPM"
    case ramp = "ramp of 20 BPM in 4 beats"
    case stall = "stall of 75 ms"
    case pause = "pause of 1.7 s"
    case lost = "3 lost"
    case doubled = "1 doubled"

    static let at = 768
}

/// Ticks of a leader as they arrive.
struct Stream {
    /// When each tick was meant to be sent, in microseconds.
    private(set) var truth: [Double] = []
    /// The arrivals: number of the tick, and time.
    private(set) var arrivals: [(number: Int, time: HostTime)] = []
    /// The first tick of the present tempo, for each tick.
    private(set) var since: [Int] = []
    /// The longest delay in microseconds.
    let coarseness: Double

    /// Generates ticks.
    ///
    /// - Parameters:
    ///   - delay: how the ticks are delayed.
    ///   - tempo: beats per minute.
    ///   - count: number of ticks.
    ///   - phase: where in a period the first tick falls, 0 to 1.
    ///   - swing: share by which the first six of every twelve ticks are stretched and the others shortened.
    ///   - happening: what happens, if anything.
    ///   - random: source of randomness.
    init(
        _ delay: Delay, tempo: Double, count: Int, phase: Double, swing: Double = 0, _ happening: Happening? = nil,
        random: inout SeededGenerator
    ) {
        coarseness = delay.coarseness + 6 * swing * 2_500_000 / tempo
        var (time, first) = (5_000_000.0, 0)
        var line = Line(delay, phase: phase)
        for number in 0..<(count + 24) {
            let present = Self.tempo(tempo, happening, at: number)
            if number > 0, present != Self.tempo(tempo, happening, at: number - 1) { first = number }
            if happening == .pause, number == Happening.at { (time, first) = (time + 1_700_000, number) }
            truth.append(time)
            since.append(first)
            let period = 2_500_000 / present
            let place = Double(number % 12)
            let due = time + swing * period * (place < 6 ? place : 12 - place)
            time += period
            guard number < count, happening != .lost || !(Happening.at..<Happening.at + 3).contains(number) else {
                continue
            }
            if happening == .stall, number == Happening.at { line.stall(until: due + 75_000) }
            line.send(number, at: due, &random, into: &arrivals)
            if happening == .doubled, number == Happening.at {
                line.send(number, at: due + 700, &random, into: &arrivals)
            }
        }
    }

    private static func tempo(_ tempo: Double, _ happening: Happening?, at number: Int) -> Double {
        let after = Double(number - Happening.at)
        switch happening {
        case .step where after >= 0: return tempo + 20
        case .smallStep where after >= 0: return tempo - 2
        case .ramp: return tempo + 20 * min(max(after, 0), 96) / 96
        default: return tempo
        }
    }

    private struct Line {
        let delay: Delay
        let phase: Double
        var last = 0.0
        var stalledUntil = 0.0
        var missed: Set<Int> = []
        var sent: Set<Int> = []

        init(_ delay: Delay, phase: Double) { (self.delay, self.phase) = (delay, phase) }

        mutating func stall(until time: Double) { stalledUntil = time }

        mutating func send(
            _ number: Int, at time: Double, _ random: inout SeededGenerator,
            into arrivals: inout [(number: Int, time: HostTime)]
        ) {
            let arrival = max(time + wait(at: time, &random), stalledUntil, last + 30)
            last = arrival
            arrivals.append((number, HostTime(microseconds: Int64(arrival))))
        }

        private mutating func wait(at time: Double, _ random: inout SeededGenerator) -> Double {
            switch delay {
            case .frames(let frames, let rate): return next(time, Double(frames) / rate * 1e6) - time
            case .usb: return next(time, 1_000) - time
            case .packets(let milliseconds, let share):
                let length = milliseconds * 1_000
                var due = next(time, length)
                while isMissed(Int((due / length).rounded()), share, &random) { due += length }
                return due - time + Double.random(in: 0..<1_000, using: &random)
            case .din:
                let other = random.chance(0.1) ? Double.random(in: 0..<960, using: &random) : 0
                return next(time, 100) - time + other
            case .gaussian(let milliseconds):
                return milliseconds * 1_000
                    * (0..<12).reduce(-2.5) { sum, _ in sum + Double.random(in: 0..<1, using: &random) }
            }
        }

        private mutating func isMissed(_ packet: Int, _ share: Double, _ random: inout SeededGenerator) -> Bool {
            guard share > 0 else { return false }
            if sent.insert(packet).inserted, random.chance(share) { missed.insert(packet) }
            return missed.contains(packet)
        }

        /// The first multiple of a length at or after a time.
        private func next(_ time: Double, _ length: Double) -> Double {
            ((time / length - phase).rounded(.up) + phase) * length
        }
    }
}
