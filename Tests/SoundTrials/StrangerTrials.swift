internal import BeatTime
internal import MIDIClock
internal import OnsetDetection
internal import Simulation
internal import SoundCalibration

/// Calibrations that listen to sound that is no machine's, while a clock is sent: none may end with an offset.
package struct StrangerTrials: Sendable {
    /// How many calibrations ended in each way.
    package private(set) var outcomes: [String: Int] = [:]
    /// Those that ended with an offset: none.
    package private(set) var offsets: [String] = []
    /// Sounds that the detector found.
    package private(set) var hits = 0
    /// Seconds of sound that were heard.
    package private(set) var seconds = 0.0

    /// Samples that come at once, 20 ms.
    private static let piece = 960

    /// Has calibrations listen.
    ///
    /// - Parameters:
    ///   - hours: for how long in all, in virtual time.
    ///   - seed: decides all.
    package init(hours: Double, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var number = 0
        while seconds < hours * 3_600 {
            number += 1
            let kind = StrangerSound.Kind.allCases[number % 3]
            listen(to: kind, isCompared: number % 4 == 0, random: random.split("trial \(number)"))
            _ = random.next()
        }
    }

    private mutating func listen(to kind: StrangerSound.Kind, isCompared: Bool, random: SeededGenerator) {
        var random = random
        let rate = [44_100.0, 48_000].randomElement(using: &random)!  // two
        let interval = Double.random(in: 300_000...1_000_000, using: &random)
        var sound = StrangerSound(kind, interval: interval, sampleRate: rate, random: random.split("sound"))
        var other = StrangerSound(.music, interval: interval, sampleRate: rate, random: random.split("other"))
        var calibration = SoundCalibration(sampleRate: rate, isCompared: isCompared)
        calibration.begin(offset: 0)
        calibration.sent(.start, at: HostTime(microseconds: 999_500))
        var (tick, shift, owed, samples) = (0, 0.0, RateAccumulator(), 0)
        while calibration.outcome == nil {
            let now = Double(samples) / rate * 1e6
            while true {
                let plain = 1e6 + Double(tick) * interval / 24
                let place = HostTime(microseconds: Int64(plain))
                if calibration.shift != shift {
                    owed.owe(shift - calibration.shift, at: place)
                    shift = calibration.shift
                }
                let time = plain + shift + owed.debt(at: place)
                guard time <= now else { break }
                calibration.sent(.timingClock, at: HostTime(microseconds: Int64(time)))
                tick += 1
            }
            var channels = [sound.next(Self.piece)]
            if isCompared { channels.append(other.next(Self.piece)) }
            samples += Self.piece
            calibration.take(
                SoundBlock(
                    channels: channels, stamp: .init(samples: samples, microseconds: Double(samples) / rate * 1e6)))
        }
        seconds += Double(samples) / rate
        hits += calibration.progress.hits
        switch calibration.outcome {
        case .success(let result)?:
            outcomes["offset", default: 0] += 1
            offsets.append("\(kind), \(Int(interval)) us a beat: \(result.offset) us, \(result.used) used")
        case .failure(let failure)?:
            outcomes["\(kind.rawValue): \("\(failure)".prefix { $0 != "(" })", default: 0] += 1
        case nil: break
        }
    }
}
