import Glibc
import Simulation

// Runs the same streams through our follower and through published methods, and writes the tables to the file named by
// the first argument. Ends with 1 when ours misses a goal.

let tempos: [Double] = [
    30, 41, 58.59, 75, 90, 93.75, 100, 107.67, 117.19, 120, 124, 128, 133.33, 140, 150, 166.67, 174, 187.5, 234.4, 260,
]
let phases = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 20
let wanted = CommandLine.arguments.dropFirst(3).first ?? ""
let methods: [(name: String, method: any Method)] = [
    ("ours", Ours()), ("mean", MeanOfIntervals(24)), ("loop", DelayLockedLoop(omega: 0.0314)),
]

func possible(_ stream: Stream) -> [ClosedRange<Double>?] {
    var limit = Limit()
    return stream.arrivals.indices.map { $0 % 4 == 0 ? limit.periods(stream, upTo: $0) : nil }
}

/// Runs all streams of a kind through all methods.
func measure(_ kind: Kind, _ happening: Happening? = nil, phases: Int) -> [Summary] {
    var summaries = methods.map { _ in Summary() }
    for tempo in tempos {
        for phase in 0..<phases {
            let seed = UInt64(phase) + 1
            var random = SeededGenerator(seed: seed).split("\(kind.name) \(tempo)")
            let stream = Stream(
                kind.delay, tempo: tempo, count: happening == nil ? 1_152 : 1_344,
                phase: Double.random(in: 0..<1, using: &random), swing: kind.swing, happening, random: &random)
            let limits = possible(stream)
            for (index, method) in methods.enumerated() {
                let trial = run(stream, limits, of: method.method, withOutput: happening == nil)
                summaries[index].add(trial, at: "\(shown(tempo, 2)) BPM, seed \(seed)")
            }
        }
    }
    return summaries
}

let kinds = Kind.all.filter { wanted.isEmpty || $0.name.contains(wanted) }
let results = await withTaskGroup(of: (Int, [Summary], [[Summary]]).self) { group in
    for (index, kind) in kinds.enumerated() {
        group.addTask {
            let changed = kind.isChanged ? Happening.allCases.map { measure(kind, $0, phases: (phases + 4) / 5) } : []
            return (index, measure(kind, phases: phases), changed)
        }
    }
    var results: [Int: ([Summary], [[Summary]])] = [:]
    for await (index, steady, changed) in group { results[index] = (steady, changed) }
    return results
}
let report = Report(kinds: kinds.indices.map { (kinds[$0], results[$0]!.0, results[$0]!.1) }, phases: phases)
print(report.text)
if let path = CommandLine.arguments.dropFirst().first, path != "-", !write(report.text, to: path) {
    print("bench-follower: \(path): \(String(cString: strerror(errno)))")
    exit(2)
}
exit(report.isGood ? 0 : 1)
