private import func Glibc.log

import BeatTime
import Simulation
import SoundCalibration

/// Sounds that are no machine's, while a clock is sent that they know nothing of: when they begin, as detectors tell.
enum Strangers {
    private enum Kind: CaseIterable {
        /// Hiss that now and then passes for a sound.
        case noise
        /// Syllables of 100 to 350 ms, words, breaths.
        case speech
        /// A pulse at nearly the tempo, or at half or twice the tempo, that varies by some milliseconds.
        case music
    }

    /// Has calibrations listen to strangers.
    ///
    /// - Parameters:
    ///   - hours: how long in all, in virtual time.
    ///   - seed: decides all.
    /// - Returns: how many of them ended with an offset.
    static func offsets(hours: Double, seed: UInt64) -> Int {
        var random = SeededGenerator(seed: seed)
        var (listened, found) = (0.0, 0)
        while listened < hours * 3_600e6 {
            let beats = sentBeats(interval: Double.random(in: 300_000...1_000_000, using: &random))
            let kind = Kind.allCases.randomElement(using: &random)!
            let hits = sounds(kind, until: beats[beats.count - 1], interval: beats[1] - beats[0], &random)
            var count = SoundJudgement.firstLook
            var outcome: Result<SoundResult, SoundDoubt>?
            while outcome == nil, count <= beats.count {
                let now = beats[count - 1] + 0.75 * (beats[1] - beats[0])
                outcome =
                    SoundJudgement(
                        hits: Array(hits.prefix { $0.time < now }), beats: Array(beats.prefix(count)), shift: 7_000
                    ).outcome
                listened += now - beats[max(0, count - SoundJudgement.shiftedBeats)]
                count += SoundJudgement.shiftedBeats
            }
            if case .success = outcome { found += 1 }
        }
        return found
    }

    private static func sentBeats(interval: Double) -> [Double] {
        var (shift, owed) = (0.0, RateAccumulator())
        return (0..<SoundJudgement.mostBeats).map { beat in
            let plain = 1e6 + Double(beat) * interval
            let moved = beat - SoundJudgement.measuredBeats
            let wanted = moved > 0 && (moved - 1) / SoundJudgement.shiftedBeats % 2 == 0 ? 7_000.0 : 0
            let place = HostTime(microseconds: Int64(plain))
            if wanted != shift { owed.owe(shift - wanted, at: place) }
            shift = wanted
            return plain + shift + owed.debt(at: place)
        }
    }

    private static func sounds(
        _ kind: Kind, until end: Double, interval: Double, _ random: inout SeededGenerator
    ) -> [Hit] {
        var (times, time): ([Double], Double) = ([], 0)
        let rate = Double.random(in: 0.1...6, using: &random)
        let syllable = Double.random(in: 100_000...350_000, using: &random)
        let pulse = interval * [0.5, 1, 1, 1, 2].randomElement(using: &random)!
        let apart = 1 + Double.random(in: -20...20, using: &random) / 1e6
        let spread = Double.random(in: 0...5_000, using: &random)
        while time < end + interval {
            switch kind {
            case .noise: time += -log(Double.random(in: 1e-9..<1, using: &random)) * 1e6 / rate
            case .speech:
                let pause = random.chance(0.15) ? Double.random(in: 200_000...1_500_000, using: &random) : 0
                time += syllable * Double.random(in: 0.6...1.4, using: &random) + pause
            case .music: time += pulse * apart
            }
            let varied = kind == .music ? time + spread * random.gaussian() : time
            times.append(max(varied, (times.last ?? 0) + 35_000))
        }
        return times.map { Hit(time: $0, error: 20) }
    }
}
