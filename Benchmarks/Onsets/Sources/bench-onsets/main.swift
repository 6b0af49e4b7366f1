import Glibc
import OnsetDetection
import Simulation

// Finds the same hits with our detector and with a plain threshold, prints the table, and writes it to the file named by
// the first argument. Ends with 1 when ours misses its bounds.

/// A sample past a quarter of the largest is a hit, and then nothing for 100 ms.
func plainTimes(_ recording: Recording) -> [Double] {
    let level = recording.samples.reduce(0) { max($0, abs($1)) } / 4
    var (times, deafUntil) = ([Double](), 0)
    for (index, sample) in recording.samples.enumerated() where index >= deafUntil && abs(sample) > level {
        times.append(Double(index) / recording.sampleRate)
        deafUntil = index + Int(recording.sampleRate / 10)
    }
    return times
}

func ourTimes(_ recording: Recording) -> [Double] {
    var detector = OnsetDetector(sampleRate: recording.sampleRate)
    let onsets = detector.take(recording.samples) + (detector.finish().map { [$0] } ?? [])
    return onsets.map { $0.time / recording.sampleRate }
}

/// How a detector did, over all runs.
struct Score {
    /// Microseconds late, of hits found.
    var errors: [Double] = []
    var missed = 0
    var extra = 0

    mutating func add(_ times: [Double], truth: [Double]) {
        var found = 0
        for time in truth {
            guard let nearest = times.min(by: { abs($0 - time) < abs($1 - time) }), abs(nearest - time) < 0.02 else {
                missed += 1
                continue
            }
            errors.append((nearest - time) * 1_000_000)
            found += 1
        }
        extra += times.count - found
    }

    func quantile(_ share: Double) -> Double {
        errors.isEmpty ? .nan : errors.sorted()[min(errors.count - 1, Int(share * Double(errors.count)))]
    }

    var row: String {
        let figures = [0.5, 0.05, 0.95].map { "\(Int(quantile($0).rounded()))" }
        return "\(figures[0]) (\(figures[1])…\(figures[2])) | \(missed) | \(extra)"
    }
}

let runs: ClosedRange<UInt64> = 1...20
var report = """
    # Where sounds begin: our method and a plain threshold

    Written by `make bench-onsets`. Every figure follows from the seeds \(runs.lowerBound) to \(runs.upperBound), so it is
    the same on every machine. The sample rate is 48 kHz, and each row has \(16 * runs.count) hits. Relative to the loudest
    hit, noise is at -38 dB and hum at -26 dB. Reverb lasts 0.8 s. Clipping cuts off 8 dB or more.

    - **error**: microseconds from a hit's true beginning to the one found: the median, and in brackets the range of
      nine in ten.
    - **missed**: hits that were not found. **extra**: beginnings found where there are none.
    - **plain**: a simple method that takes the first sample above a quarter of the largest, then pauses for 100 ms.

    | sound | spoiled by | ours: error | missed | extra | plain: error | missed | extra |
    |---|---|---|---|---|---|---|---|

    """
var isGood = true
for sound in Recording.Sound.allCases {
    for spoiled in StudioTake.Spoiled.allCases {
        var (ours, plain) = (Score(), Score())
        for seed in runs {
            let take = StudioTake(sound, spoiled, seed: seed)
            ours.add(ourTimes(take.recording), truth: take.truth)
            plain.add(plainTimes(take.recording), truth: take.truth)
        }
        let name = spoiled == .not ? "nothing" : spoiled == .all ? "all of it" : spoiled.rawValue
        report += "| \(sound.rawValue) | \(name) | \(ours.row) | \(plain.row) |\n"
        let bound = [.click, .trigger].contains(sound) ? 50.0 : 200
        isGood = isGood && abs(ours.quantile(0.5)) < bound && ours.missed + ours.extra == 0
    }
}
print(report, terminator: "")
if CommandLine.arguments.count > 1 {
    guard let file = fopen(CommandLine.arguments[1], "w") else { fatalError("cannot write") }
    fputs(report, file)
    fclose(file)
}
exit(isGood ? 0 : 1)
