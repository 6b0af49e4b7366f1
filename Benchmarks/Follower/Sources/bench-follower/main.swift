import Glibc

// Runs the same traces through our follower and through the published methods, prints the tables, and writes them to
// the file named by the first argument. Ends with 1 when ours misses a goal.

let runs: ClosedRange<UInt64> = 1...40
let methods: [(name: String, method: any Method)] = [
    ("**ours**", Ours()), ("mean of 24", MeanOfIntervals(24)), ("mean of 10", MeanOfIntervals(10)),
    ("delay-locked loop", DelayLockedLoop(omega: 0.0314)), ("least squares 48", LeastSquares(48)),
]

var report = """
    # Following a clock: our method and published ones

    Written by `make bench-follower`. Every figure follows from the seeds \(runs.lowerBound) to \(runs.upperBound), so it
    is the same on every machine. All figures are medians of these runs.

    - **lock**: ticks until the tempo is within 0.1 BPM and stays there for 24 ticks.
    - **tempo**, **next tick**: root mean square error of the tempo and of the predicted time of the next tick, over
      4,000 steady ticks. The line's mean delay, which no method can know, is subtracted. In brackets: our error as a
      multiple of the Cramér-Rao bound for the window in use. That bound assumes independent noise; the slowly changing
      lateness of frames is not independent.
    - **strays**: how often per hour the measured tempo is more than 0.5 BPM off while the tempo is constant.
    - **step**: a sudden change by 6 BPM: ticks until the tempo is within 0.25 BPM for 24 ticks, and the largest error of
      the next tick. **ramp**: a change by 20 BPM over four beats: the largest error of the next tick.
    - **events**: four figures: the largest error of the tempo in BPM, the largest error of the next tick in ms, ticks
      until the tempo is within 0.25 BPM for 24 ticks, and by how many ticks the count is off afterwards. When a stall
      and a step of 6 BPM come together, an error of 6 BPM cannot be avoided. A swung clock is measured from tick 600 on,
      against the even beat without swing; its third figure counts from the first tick.


    """

func calmRow(_ name: String, _ result: Result, isOurs: Bool) -> [String] {
    let tempoRatio = isOurs ? " (\(shown(median(result.tempoOverBound), 2)))" : ""
    let phaseRatio = isOurs ? " (\(shown(median(result.phaseOverBound), 2)))" : ""
    let hours = Double(result.steadyTicks) / (120 * 24 * 60)
    return [
        name, shown(median(result.lock)), shown(median(result.tempo), 4) + tempoRatio,
        shown(median(result.phase), 1) + phaseRatio, shown(Double(result.alarms) / hours, 1),
        shown(median(result.stepSettling)), milliseconds(median(result.stepPhase)),
        milliseconds(median(result.rampPhase)),
    ]
}

func eventRow(_ name: String, _ result: Result) -> [String] {
    [name]
        + Event.allCases.map { event in
            guard let cost = result.events[event] else { return "–" }
            let tempo = shown(median(cost.tempo), 2)
            return "\(tempo) / \(milliseconds(median(cost.phase), 1)) / \(shown(median(cost.recovery))) / "
                + shown(median(cost.count))
        }
}

var results: [[Result]] = []
for setting in Setting.all {
    var calm = Table([
        "", "lock", "tempo, BPM", "next tick, us", "strays/h", "step, ticks", "step, ms", "ramp, ms",
    ])
    var events = Table([""] + Event.allCases.map(\.rawValue))
    var row: [Result] = []
    for (index, (name, method)) in methods.enumerated() {
        let result = measure(setting, method, runs: runs)
        row.append(result)
        calm.add(calmRow(name, result, isOurs: index == 0))
        events.add(eventRow(name, result))
    }
    calm.add([
        "bound of 256 ticks", "", shown(setting.tempoBound(256), 4), shown(setting.phaseBound(256), 1), "", "", "", "",
    ])
    let text = "## \(setting.name)\n\n\(calm.text)\n\(events.text)\n"
    print(text)
    report += text
    results.append(row)
}

let goals = Goal.all
var table = Table(["goal"] + methods.map(\.name))
var isMet = true
for goal in goals {
    let met = methods.indices.map { method in goal.isMet(results.map { $0[method] }, results.map { $0[3] }) }
    table.add([goal.text] + met.map { $0 ? "met" : "missed" })
    isMet = isMet && met[0]
}
let goalText = "## Goals\n\n\(table.text)"
print(goalText)
report += goalText

if let path = CommandLine.arguments.dropFirst().first, !write(report, to: path) {
    print("bench-follower: \(path): \(String(cString: strerror(errno)))")
    exit(2)
}
exit(isMet ? 0 : 1)
