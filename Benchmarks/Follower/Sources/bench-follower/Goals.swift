/// A statement that a follower should make true.
struct Goal: Sendable {
    let text: String
    /// Given a method's results and those of the fixed loop, one per setting of ``Setting/all``.
    let isMet: @Sendable ([Result], [Result]) -> Bool

    static let all = [
        Goal(text: "independent noise: tempo and next tick within 1.3 of the bound of the window in use (else of 256)")
        {
            results, _ in
            results[0...3].allSatisfy { median($0.tempoOverBound) <= 1.3 && median($0.phaseOverBound) <= 1.3 }
        },
        Goal(text: "steady tempo and next tick not above the fixed loop's") { results, loop in
            zip(results, loop).allSatisfy {
                median($0.tempo) <= median($1.tempo) && median($0.phase) <= median($1.phase)
            }
        },
        Goal(text: "step settled in 12, 25, 45 ticks at 0.1 ms, uniform 1 ms, Gaussian 1 ms") { results, _ in
            zip(results, [12, 25, 45]).allSatisfy { median($0.stepSettling) <= $1 }
        },
        Goal(text: "at 0.1 ms next tick off by at most 3 ms on the step, 1.2 ms on the ramp") { results, _ in
            median(results[0].stepPhase) <= 3_000 && median(results[0].rampPhase) <= 1_200
        },
        Goal(text: "lost, doubled and stalled ticks cost less than 0.2 BPM") { results, _ in
            holds(results) { median($0.tempo) < 0.2 }
        },
        Goal(text: "and no count, in any run") { results, _ in
            holds(results) { $0.count.allSatisfy { $0 == 0 } }
        },
    ]

    private static func holds(_ results: [Result], _ rule: (EventResult) -> Bool) -> Bool {
        let plain: [Event] = [.lostOne, .lostThree, .lostTwelve, .stall, .doubled]
        return results.allSatisfy { result in plain.allSatisfy { result.events[$0].map(rule) ?? false } }
    }
}
