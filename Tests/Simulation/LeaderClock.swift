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
        /// Sent at the start of the next audio period of this many microseconds.
        case periods(Double)
        /// Sent in the next packet, which comes every so many microseconds, and up to 1 ms late; a share is missed.
        case packets(Double, missed: Double)

        /// Whether several ticks may come at once.
        fileprivate var isCoarse: Bool {
            switch self {
            case .periods, .packets: true
            case .none, .gaussian, .uniform, .heavyTailed, .frames: false
            }
        }
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
        /// Every tick arrives again after this many microseconds.
        case twice(microseconds: Double)
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
        /// Where frames, periods and packets are, as a share of their length.
        private let phase: Double
        /// The last packet: when it was due, and when it was sent.
        private var packet = (due: 0.0, sent: 0.0)

        init(jitter: Jitter, random: SeededGenerator) {
            self.jitter = jitter
            self.random = random
            phase = Double.random(in: 0..<1, using: &self.random)
        }

        mutating func send(
            _ number: Int, at time: Double, _ faults: [Fault], into arrivals: inout [Arrival], _ truth: [Double]
        ) {
            var due = time + lateness(at: time)
            var copies = 1
            var distance = 320.0
            for fault in faults {
                switch fault {
                case .lost(let numbers) where numbers.contains(number): copies = 0
                case .doubled(number): copies = 2
                case .twice(let microseconds): (copies, distance) = (2, microseconds)
                case .stall(let after, let length) where number > after:
                    due = max(due, truth[after] + length)
                default: break
                }
            }
            for copy in 0..<copies {
                // A message of one byte takes 320 us on a DIN line; messages of one packet come at once.
                due = max(due + Double(copy) * distance, last + (jitter.isCoarse ? 30 : 320))
                last = due
                arrivals.append(Arrival(number: number, time: HostTime(microseconds: roundedToInteger(due))))
            }
        }

        /// The first start of a period at or after a time.
        private func next(_ time: Double, _ period: Double) -> Double {
            (time / period - phase).rounded(.up) * period + phase * period
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
                return next(time + 20 * random.gaussian(), frame) - time
            case .periods(let period): return next(time, period) - time
            case .packets(let period, let missed):
                var due = next(time, period)
                if due != packet.due { packet = (due, random.chance(missed) ? due + period : due) }
                due = packet.sent
                return due - time + Double.random(in: 0..<1_000, using: &random)
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
