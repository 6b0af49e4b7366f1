import BeatTime
import MIDIClock
import Simulation

/// How far a method was off after one arrival.
struct Reading {
    var number: Int
    /// Beats per minute.
    var tempo: Double
    /// Microseconds by which it expects the next tick too late; of ours counted by the tick's number.
    var phase: Double
    var window: Int?
}

/// Runs a trace through a method.
func readings(_ master: MasterClock, of method: any Method) -> [Reading] {
    var method = method
    return master.arrivals.compactMap { arrival in
        method.tick(at: arrival.time)
        let next = arrival.number + 1
        guard let period = method.period, let due = method.due(next) else { return nil }
        let trueTempo = 2_500_000 / (master.truth[next] - master.truth[arrival.number])
        return Reading(
            number: arrival.number, tempo: 2_500_000 / period - trueTempo, phase: due - master.truth[next],
            window: method.window)
    }
}

/// Ticks from `start` until the tempo stays within `bound` for 24 ticks; nil when it never does.
func settling(_ readings: [Reading], from start: Int, within bound: Double) -> Int? {
    var run = 0
    for reading in readings where reading.number >= start {
        run = abs(reading.tempo) <= bound ? run + 1 : 0
        if run == 24 { return reading.number - start - 23 }
    }
    return nil
}

func rootMeanSquare(_ values: some Collection<Double>) -> Double {
    (values.reduce(0) { $0 + $1 * $1 } / Double(max(values.count, 1))).squareRoot()
}

func median(_ values: [Double]) -> Double {
    values.isEmpty ? .nan : values.sorted()[values.count / 2]
}
