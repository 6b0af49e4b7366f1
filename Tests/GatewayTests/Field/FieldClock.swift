import BeatTime
import MIDIClock
import Simulation

/// A leader's clock in a field case: its true ticks, its transport messages, and what the way to us does to them.
struct FieldClock {
    /// One of the machines at Clock In, from 0.
    var leader: Int
    /// Time of tick 0, in seconds.
    var start: Double
    var parts: [Part] = []
    var way = Way()
    /// Share by which the first six of every twelve ticks are stretched and the others shortened.
    var swing = 0.0
    /// Numbers of the ticks that never arrive.
    var lost: Set<Int> = []
    /// Numbers of the ticks that arrive twice.
    var doubled: Set<Int> = []
    /// Everything after a tick waits for so many seconds since that tick.
    var stalls: [Int: Double] = [:]
    var sends: [Send] = []

    /// Some ticks of a tempo, or of one that changes steadily; nil is silence.
    struct Part {
        var beatsPerMinute: ClosedRange<Double>?
        var rises = true
        /// In beats, or in seconds of silence.
        var length: Double
    }

    /// What happens to messages on their way, in this order.
    struct Way {
        /// Standard deviation of the sender's own unsteadiness, in seconds.
        var jitter = 0.0
        /// Late by zero to this many seconds, each message by itself.
        var lateness = 0.0
        /// Messages wait for the next multiple of this period, in seconds, plus this part of one; 0 is no grid.
        var (period, phase) = (0.0, 0.0)
        /// Share of those moments at which nothing leaves, so that it leaves at the next.
        var missed = 0.0
        /// Each group of messages is late by zero to this many seconds, all of it by the same.
        var radio = 0.0
        /// Time from a message to its second copy; nil for none.
        var copy: Double?
        /// Shortest time between two messages, in seconds.
        var gap = 0.000_03
    }

    /// A transport message.
    struct Send {
        var message: ClockMessage
        var moment: Moment

        enum Moment {
            /// In seconds.
            case at(Double)
            /// So many seconds before a tick.
            case before(tick: Int, Double)
        }
    }

    /// The exact times of the ticks, in seconds.
    var truth: [Double] {
        var (times, time): ([Double], Double) = ([], start)
        for part in parts {
            guard let tempo = part.beatsPerMinute else {
                time += part.length
                continue
            }
            let count = Int((part.length * 24).rounded())
            for number in 0..<count {
                times.append(time)
                let progress = count == 1 ? 0 : Double(number) / Double(count)
                let change = (tempo.upperBound - tempo.lowerBound) * (part.rises ? progress : 1 - progress)
                time += 2.5 / (tempo.lowerBound + change)
            }
        }
        return times
    }

    /// When the last tick has had its time, in seconds.
    var end: Double {
        let truth = truth
        guard let last = truth.last, truth.count > 1 else { return start }
        return 2 * last - truth[truth.count - 2]
    }

    /// The song position of each tick, in ticks, as its transport messages say; nil while its song stands.
    var positions: [Int?] {
        let truth = truth
        let sends = sends.map { (message: $0.message, time: time(of: $0, truth)) }.sorted { $0.time < $1.time }
        var (next, place, isPlaying) = (0, 0, false)
        return truth.map { time in
            while next < sends.count, sends[next].time <= time {
                switch sends[next].message {
                case .start: (place, isPlaying) = (0, true)
                case .continue: isPlaying = true
                case .stop: isPlaying = false
                case .songPosition(let sixteenths): place = Int(sixteenths) * 6
                case .timingClock: break
                }
                next += 1
            }
            guard isPlaying else { return nil }
            defer { place += 1 }
            return place
        }
    }

    private func time(of send: Send, _ truth: [Double]) -> Double {
        switch send.moment {
        case .at(let time): time
        case .before(let tick, let lead): truth[tick] - lead
        }
    }

    /// What arrives and when, in seconds and in order.
    func arrivals(using random: inout SeededGenerator) -> [(time: Double, message: ClockMessage)] {
        let truth = truth
        var sent = sends.map { (time: time(of: $0, truth), message: $0.message, tick: nil as Int?) }
        for (number, time) in truth.enumerated() where !lost.contains(number) {
            let place = Double(number % 12)
            let length = (number + 1 < truth.count ? truth[number + 1] : end) - time
            let swung = time + swing * length * (place < 6 ? place : 12 - place)
            sent.append((swung, .timingClock, number))
        }
        // A transport message for the very moment of a tick goes first.
        sent.sort { ($0.time, $0.tick == nil ? 0 : 1) < ($1.time, $1.tick == nil ? 0 : 1) }
        var journey = Journey(way: way)
        var (last, arrivals): (Double, [(time: Double, message: ClockMessage)]) = (-.infinity, [])
        for (time, message, tick) in sent {
            var due = journey.arrival(of: time, using: &random)
            for (after, length) in stalls where time > truth[after] { due = max(due, truth[after] + length) }
            var copies = [due]
            if let copy = way.copy { copies.append(due + copy) }
            if let tick, doubled.contains(tick) { copies.append(due + way.gap) }
            for copy in copies {
                // Nothing overtakes; a copy may come after later ticks, so it is sorted in below.
                let arrival = copy == due ? max(due, last + way.gap) : copy
                if copy == due { last = arrival }
                arrivals.append((arrival, message))
            }
        }
        return arrivals.enumerated().sorted { ($0.1.time, $0.0) < ($1.1.time, $1.0) }.map(\.element)
    }

    /// The way of messages to us; remembers what they have in common.
    private struct Journey {
        let way: Way
        /// Whether nothing leaves at these multiples of the period, and by how much their radio is late.
        private var (missed, radio): ([Int: Bool], [Int: Double]) = ([:], [:])

        init(way: Way) { self.way = way }

        mutating func arrival(of time: Double, using random: inout SeededGenerator) -> Double {
            var time = time
            if way.jitter > 0 { time += way.jitter * Self.gaussian(using: &random) }
            if way.lateness > 0 { time += Double.random(in: 0...way.lateness, using: &random) }
            guard way.period > 0 else { return time }
            var multiple = Int((time / way.period - way.phase).rounded(.up))
            while isMissed(multiple, using: &random) { multiple += 1 }
            return (Double(multiple) + way.phase) * way.period + lateness(of: multiple, using: &random)
        }

        private mutating func isMissed(_ multiple: Int, using random: inout SeededGenerator) -> Bool {
            if let known = missed[multiple] { return known }
            missed[multiple] = random.chance(way.missed)
            return missed[multiple] == true
        }

        private mutating func lateness(of multiple: Int, using random: inout SeededGenerator) -> Double {
            guard way.radio > 0 else { return 0 }
            let late = radio[multiple] ?? Double.random(in: 0...way.radio, using: &random)
            radio[multiple] = late
            return late
        }

        /// A normally distributed number with mean 0 and deviation 1, from twelve uniform ones.
        private static func gaussian(using random: inout SeededGenerator) -> Double {
            (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &random) }
        }
    }
}
