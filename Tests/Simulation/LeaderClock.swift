package import BeatTime

/// A simulated MIDI clock leader: true times of ticks, and their arrivals through an imperfect line.
package struct LeaderClock: Sendable {
    /// How stamps differ from the truth.
    package enum Jitter: Hashable, Sendable {
        case none
        /// Standard deviation in microseconds.
        case gaussian(Double)
        /// Late by zero to this many microseconds, independently: a USB frame not in step with the clock.
        case uniform(Double)
        /// Half-normal delays; one in a hundred has an additional exponential delay with a mean of 8 ms.
        case heavyTailed
        /// Sent in the next frame of 1 ms, 30 ppm off: delays that repeat or creep with the tempo.
        case frames
    }

    /// One arrival.
    package struct Arrival: Hashable, Sendable {
        /// The true tick's number.
        package var number: Int
        /// When it comes.
        package var time: HostTime
    }

    /// Faults of the line.
    package enum Fault: Hashable, Sendable {
        /// Ticks that never arrive.
        case lost(Range<Int>)
        /// Everything after this tick waits for this many microseconds, then arrives in a burst.
        case stall(after: Int, microseconds: Double)
        /// A tick that arrives twice.
        case doubled(Int)
    }

    /// Exact times of the ticks, in microseconds.
    package private(set) var truth: [Double] = []
    package private(set) var arrivals: [Arrival] = []

    /// Generates ticks 0 to `count` (and a few more true times).
    ///
    /// - Parameters:
    ///   - count: number of ticks.
    ///   - start: time of tick 0, in microseconds.
    ///   - jitter: of the stamps.
    ///   - faults: of the line.
    ///   - swing: share by which the first six of every twelve ticks are stretched and the others shortened.
    ///   - random: source of randomness.
    ///   - tempo: BPM from a tick to the next.
    package init(
        count: Int, start: Double = 5_000_000, jitter: Jitter, faults: [Fault] = [], swing: Double = 0,
        random: inout SeededGenerator, tempo: (Int) -> Double
    ) {
        var time = start
        var line = Line(jitter: jitter, random: random.split("line"))
        _ = random.next()
        for number in 0..<(count + 200) {
            truth.append(time)
            let period = 2_500_000 / tempo(number)
            time += period
            guard number < count else { continue }
            let place = Double(number % 12)
            let swung = truth[number] + swing * period * (place < 6 ? place : 12 - place)
            line.send(number, at: swung, faults, into: &arrivals, truth)
        }
    }

    /// The line between a leader and us: it delays and loses messages, and keeps their order.
    private struct Line {
        let jitter: Jitter
        var random: SeededGenerator
        var last = -Double.infinity
        private let frameOffset: Double

        init(jitter: Jitter, random: SeededGenerator) {
            self.jitter = jitter
            self.random = random
            frameOffset = Double.random(in: 0..<1_000, using: &self.random)
        }

        mutating func send(
            _ number: Int, at time: Double, _ faults: [Fault], into arrivals: inout [Arrival], _ truth: [Double]
        ) {
            var due = time + lateness(at: time)
            var copies = 1
            for fault in faults {
                switch fault {
                case .lost(let numbers) where numbers.contains(number): copies = 0
                case .doubled(number): copies = 2
                case .stall(let after, let length) where number > after:
                    due = max(due, truth[after] + length)
                default: break
                }
            }
            for copy in 0..<copies {
                // A message of one byte takes 320 us on a DIN line.
                due = max(due + Double(copy) * 320, last + 320)
                last = due
                arrivals.append(Arrival(number: number, time: HostTime(microseconds: roundedToInteger(due))))
            }
        }

        private mutating func lateness(at time: Double) -> Double {
            switch jitter {
            case .none: return 0
            case .gaussian(let deviation): return deviation * random.gaussian()
            case .uniform(let width): return Double.random(in: 0..<width, using: &random)
            case .heavyTailed:
                let tail = random.chance(0.01) ? 8_000 * random.exponential() : 0
                return abs(500 * random.gaussian()) + tail
            case .frames:
                let frame = 1_000.03
                let ready = (time - frameOffset + 20 * random.gaussian()) / frame
                return ready.rounded(.up) * frame + frameOffset - time
            }
        }
    }
}

extension SeededGenerator {
    /// A normally distributed number with mean 0 and deviation 1, from twelve uniform ones.
    mutating func gaussian() -> Double {
        (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &self) }
    }

    /// An exponentially distributed number with mean 1, by von Neumann's method.
    mutating func exponential() -> Double {
        var whole = 0.0
        while true {
            let first = Double.random(in: 0..<1, using: &self)
            var last = first
            var isOdd = true
            while true {
                let next = Double.random(in: 0..<1, using: &self)
                guard next < last else { break }
                last = next
                isOdd.toggle()
            }
            guard !isOdd else { return whole + first }
            whole += 1
        }
    }
}
