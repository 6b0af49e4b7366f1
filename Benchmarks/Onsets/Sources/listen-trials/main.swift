import Glibc
import SoundTrials

// Has calibrations listen to hours of noise, speech and music that know nothing of the clock, and ends with 1 if any of
// them finds an offset. Arguments: how many hours, and the first and the last seed among which they are shared.

let arguments = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
guard arguments.count == 3, arguments[1] <= arguments[2] else {
    print("usage: listen-trials HOURS FIRST-SEED LAST-SEED")
    exit(64)
}
let seeds = arguments[1]...arguments[2]
var isGood = true
for seed in seeds {
    let trials = StrangerTrials(hours: Double(arguments[0]) / Double(seeds.count), seed: seed)
    let ends = trials.outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    print("seed \(seed): \(Int(trials.seconds)) s, \(trials.hits) sounds; \(ends)")
    for offset in trials.offsets { print("  AN OFFSET: \(offset)") }
    fflush(nil)
    isGood = isGood && trials.offsets.isEmpty
}
exit(isGood ? 0 : 1)
