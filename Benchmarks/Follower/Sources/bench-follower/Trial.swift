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
func readings(_ leader: LeaderClock, of fresh: any Method) -> [Reading] {
    var method = fresh
    return leader.arrivals.compactMap { arrival in
        method.tick(at: arrival.time)
        let next = arrival.number + 1
        guard let period = method.period, let due = method.due(next) else { return nil }
        let trueTempo = 2_500_000 / (leader.truth[next] - leader.truth[arrival.number])
        return Reading(
            number: arrival.number, tempo: 2_500_000 / period - trueTempo, phase: due - leader.truth[next],
            window: method.window)
    }
}

/// Ticks after `start` until the tempo is within `bound` and stays there for 24 ticks; infinite when it never does.
func settling(_ readings: [Reading], after start: Int, within bound: Double) -> Double {
    var run = 0
    for reading in readings where reading.number >= start {
        run = abs(reading.tempo) <= bound ? run + 1 : 0
        if run == 24 { return Double(reading.number - start - 23) }
    }
    return .infinity
}

func rootMeanSquare(_ values: [Double]) -> Double {
    (values.reduce(0) { $0 + $1 * $1 } / Double(max(values.count, 1))).squareRoot()
}

func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(max(values.count, 1)) }

/// The largest magnitude.
func worst(_ values: [Double]) -> Double { values.reduce(0) { max($0, abs($1)) } }

func median(_ values: [Double]) -> Double { values.isEmpty ? .nan : values.sorted()[values.count / 2] }
