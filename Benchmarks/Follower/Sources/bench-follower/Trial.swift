import BeatTime

/// How a method did on one stream.
struct Trial {
    /// Beats until it was locked.
    var lock = Double.infinity
    /// Ticks while it was locked, and those at which its tempo was possible, within 0.1 BPM.
    var (locked, inside) = (0, 0)
    /// The largest error of the tempo from four beats after the lock on, in BPM.
    var tempo = 0.0
    /// The largest error of the next tick from 16 beats after the lock on, in microseconds.
    var phase = 0.0
    /// Squared errors of both, for root mean squares, and their number; the phase around its mean.
    var (tempoSquares, phaseSum, phaseSquares, count) = (0.0, 0.0, 0.0, 0.0)
    /// Ticks after ``Happening/at`` until the tempo is possible and stays so for 24 ticks.
    var recovery = Double.infinity
    /// By how many ticks the count is off at the end.
    var miscount = 0.0
    /// How uneven the ticks of an output were from two beats after its start on, in microseconds.
    var gap = 0.0
    /// How far an output's ticks were from the leader's, from 16 beats after the lock on, in microseconds.
    var place = 0.0
    /// How often a machine at the output was started.
    var moves = 0
}

/// Runs a stream through a method, and our estimate through an output if that is wanted.
func run(
    _ stream: Stream, _ limits: [ClosedRange<Double>?], of fresh: any Method, withOutput: Bool
) -> Trial {
    var (method, trial) = (fresh, Trial())
    var (since, steady) = (Int?.none, 0)
    var output = Output()
    for (index, arrival) in stream.arrivals.enumerated() {
        method.tick(at: arrival.time)
        guard let period = method.period, method.isLocked else { continue }
        if withOutput, let ours = method as? Ours, let estimate = ours.estimate {
            output.follow(estimate, at: arrival.time)
        }
        let next = arrival.number + 1
        let truth = stream.truth[next] - stream.truth[arrival.number]
        since = since ?? index
        let age = index - (since ?? index)
        if age == 0 { trial.lock = Double(index + 1) / 24 }
        guard let limit = limits[index] else { continue }
        let margin = 0.1 * truth * truth / 2_500_000
        let isInside = period >= limit.lowerBound - margin && period <= limit.upperBound + margin
        trial.locked += 1
        if isInside { trial.inside += 1 }
        let error = 2_500_000 / period - 2_500_000 / truth
        let phase = (method.due(next) ?? .nan) - stream.truth[next]
        if age >= 96 { trial.tempo = max(trial.tempo, abs(error)) }
        if age >= 384 {
            trial.phase = max(trial.phase, abs(phase))
            trial.tempoSquares += error * error
            trial.phaseSum += phase
            trial.phaseSquares += phase * phase
            trial.count += 1
        }
        if arrival.number >= Happening.at {
            steady = isInside ? steady + 1 : 0
            if steady == 6, trial.recovery == .infinity { trial.recovery = Double(arrival.number - Happening.at - 20) }
        }
        trial.miscount = (phase / truth).rounded()
    }
    trial.take(output, of: stream, since: since ?? 0)
    return trial
}

extension Trial {
    /// Judges what an output sent.
    fileprivate mutating func take(_ output: Output, of stream: Stream, since: Int) {
        moves = output.moves
        for (tick, next) in zip(output.ticks, output.ticks.dropFirst()) where next.number < stream.truth.count {
            guard next.number > since + 72 else { continue }
            let due = stream.truth[next.number] - stream.truth[tick.number]
            gap = max(gap, abs(next.time - tick.time - due))
            if next.number > since + 384 { place = max(place, abs(next.time - stream.truth[next.number])) }
        }
    }
}
