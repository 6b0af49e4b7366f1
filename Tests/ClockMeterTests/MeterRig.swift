import BeatTime
import ClockMeter
import MIDIClock
import Simulation

/// A meter that has heard a simulated leader.
func meter(
    count: Int, jitter: LeaderClock.Jitter = .none, faults: [LeaderClock.Fault] = [], tempo: (Int) -> Double
) -> ClockMeter {
    var meter = ClockMeter(start: HostTime(microseconds: 4_000_000))
    meter.play(count: count, after: 1_000_000, jitter: jitter, faults: faults, tempo: tempo)
    return meter
}

func measured(
    count: Int, jitter: LeaderClock.Jitter = .none, faults: [LeaderClock.Fault] = [], tempo: (Int) -> Double
) -> ClockFigures {
    meter(count: count, jitter: jitter, faults: faults, tempo: tempo).figures()
}

extension ClockMeter {
    /// Lets a leader send `count` ticks, the first a given number of microseconds after the newest message.
    mutating func play(
        count: Int, after pause: Double, jitter: LeaderClock.Jitter = .none, faults: [LeaderClock.Fault] = [],
        tempo: (Int) -> Double
    ) {
        var random = SeededGenerator(seed: 7)
        let begin = 4_000_000 + figures().seconds * 1_000_000 + pause
        let leader = LeaderClock(
            count: count, start: begin, jitter: jitter, faults: faults, random: &random, tempo: tempo)
        for arrival in leader.arrivals { received(.timingClock, at: arrival.time) }
    }
}

/// Whether a figure is within a share of its true value.
func isNear(_ value: Double, _ truth: Double, _ share: Double) -> Bool { abs(value - truth) <= share * truth }
