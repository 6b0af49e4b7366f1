import BeatTime
import MIDIClock
import OnsetDetection
import Simulation
import SoundCalibration

/// A gateway that sends a clock, a machine that plays to it, and a sound card that hears the machine.
struct VirtualStudio {
    var sound = Recording.Sound.click
    var spoiled = StudioTake.Spoiled.not
    var beatsPerMinute = 150.0
    /// When the first beat is, in microseconds.
    var start = 1_500_000.0
    /// Microseconds from a beat to the machine's hit.
    var delay = 4_000.0
    /// Standard deviation of that.
    var spread = 500.0
    /// What the output's offset is before.
    var offset = 0.0
    var inputLatency = 0.0
    var manner = Manner.follows
    var level = 0.3...0.5
    /// Whether the driver says when samples were taken.
    var hasStamps = true
    /// Milliseconds of sound that this machine loses, and after how many seconds.
    var gap: (milliseconds: Int, second: Double)?
    /// What is on the second channel, if there is one.
    var other: Other?
    /// What both channels hear before the clock is heard.
    var before: [Float] = []

    /// How the machine plays.
    enum Manner: Hashable {
        case follows
        /// By its own crystal, so many parts per million fast; the clock does not matter.
        case ownTempo(partsPerMillion: Double)
        /// So many hits to a beat.
        case several(Int)
        /// Sounds at any time, of any loudness, such as of a voice.
        case talks
        /// Every second beat only.
        case skips
        case silent
        /// Until a beat, and then no more.
        case stops(after: Int)
    }

    /// What the second channel hears: clicks of a machine at another output or at the same, so many microseconds after
    /// the beat, or the output's own cable.
    enum Other: Hashable {
        case machine(delay: Double)
        case machineAtSameOutput(delay: Double)
        /// A machine that keeps its own tempo, so many parts per million fast, and begins so many microseconds late.
        case stranger(partsPerMillion: Double, delay: Double)
        case cable
        /// The same, connected after the Start.
        case cableWithoutStart
    }

    /// Microseconds from the output to the cable's end.
    static let wire = 700.0

    /// What came of it.
    struct Take {
        var outcome: Result<SoundResult, MeasurementFailure>?
        /// The true delays of the beats that were measured, in microseconds.
        var truth: [Double]
        var seconds: Double
        /// By how much the clock was moved, in microseconds.
        var shifts: Set<Double>
    }

    /// Plays until there is an outcome.
    func play(seed: UInt64) -> Take {
        var random = SeededGenerator(seed: seed)
        let ppm = Double.random(in: -200...200, using: &random)
        let rate = [44_100.0, 48_000].randomElement(using: &random)!
        var capture = VirtualCapture(
            sampleRate: rate, partsPerMillion: ppm, spoiled: spoiled, random: random.split("own"))
        var second = VirtualCapture(sampleRate: rate, partsPerMillion: ppm, random: random.split("other"))
        var calibration = SoundCalibration(
            sampleRate: rate, inputLatency: inputLatency, isCompared: other != nil)
        calibration.take(SoundBlock(channels: [before, before], stamp: nil))
        calibration.begin(offset: offset)
        var chance = random.split("machine")
        let tickLength = 60_000_000 / beatsPerMinute / 24
        var (tick, shift, owed) = (0, 0.0, RateAccumulator())
        var (truth, shifts) = ([Double](), Set<Double>())
        calibration.sent(.start, at: HostTime(microseconds: Int64(start) - 500))
        if other == .cable { second.add(0xFA, atMicroseconds: start - 500 + Self.wire + inputLatency) }
        var samples = 0
        var toLose = gap.map { Int(rate) * $0.milliseconds / 1_000 } ?? 0
        var taken = 0
        while calibration.outcome == nil, samples < Int(rate * 400) {
            let end = capture.nextPieceEnd + 1_000_000
            while start + Double(tick) * tickLength < end {
                let plain = start + Double(tick) * tickLength
                let place = HostTime(microseconds: Int64(plain))
                if calibration.shift != shift {
                    owed.owe(shift - calibration.shift, at: place)
                    shift = calibration.shift
                    shifts.insert(shift)
                }
                let time = plain + shift + owed.debt(at: place)
                if tick % 24 == 0 {
                    let late = delay + spread * chance.gaussian()
                    if truth.count < 48 { truth.append(late) }
                    play(beat: tick / 24, at: time, plain: plain, late: late, &capture, &chance)
                    switch other {
                    case .machine(let delay)?:
                        second.add(.click, atMicroseconds: plain - offset + delay, level: 0.4)
                    case .machineAtSameOutput(let delay)?:
                        second.add(.click, atMicroseconds: time + delay, level: 0.4)
                    case .stranger(let partsPerMillion, let delay)?:
                        let elapsed = (plain - start) * (1 - partsPerMillion / 1_000_000)
                        second.add(.click, atMicroseconds: start + elapsed + delay, level: 0.4)
                    case .cable?, .cableWithoutStart?, nil: break
                    }
                }
                if other == .cable || other == .cableWithoutStart {
                    second.add(0xF8, atMicroseconds: time + Self.wire + inputLatency)
                }
                calibration.sent(
                    .timingClock, at: HostTime(microseconds: Int64(time + Double.random(in: 0...40, using: &chance))))
                tick += 1
            }
            var pieces = [capture.nextPiece()]
            if other != nil { pieces.append(second.nextPiece()) }
            for first in stride(from: 0, to: pieces[0].count, by: 240) {
                let part = pieces.map { Array($0[first..<min(first + 240, $0.count)]) }
                samples += part[0].count
                if let gap, toLose > 0, Double(samples) > gap.second * rate {
                    if toLose <= part[0].count { calibration.lost() }
                    toLose -= part[0].count
                    continue
                }
                taken += part[0].count
                let stamp = SoundBlock.Stamp(
                    samples: before.count + taken, microseconds: capture.stamp(ofSample: samples))
                calibration.take(SoundBlock(channels: part, stamp: hasStamps ? stamp : nil))
            }
        }
        return Take(outcome: calibration.outcome, truth: truth, seconds: Double(samples) / rate, shifts: shifts)
    }

    private func play(
        beat: Int, at time: Double, plain: Double, late: Double, _ capture: inout VirtualCapture,
        _ chance: inout SeededGenerator
    ) {
        let interval = 60_000_000 / beatsPerMinute
        func hit(_ microseconds: Double) {
            let level = Double.random(in: self.level, using: &chance)
            capture.add(sound, atMicroseconds: microseconds + late + inputLatency, level: level)
        }
        switch manner {
        case .follows: hit(time)
        case .ownTempo(let ppm): hit(plain - Double(beat) * interval * ppm / 1e6)
        case .several(let count): for part in 0..<count { hit(time + Double(part) * interval / Double(count)) }
        case .talks:
            var place = 0.0
            while true {
                place += Double.random(in: 60_000...500_000, using: &chance)
                guard place < interval else { break }
                let sound = Recording.Sound.allCases.randomElement(using: &chance)!
                capture.add(sound, atMicroseconds: time + place, level: Double.random(in: 0.02...0.6, using: &chance))
            }
        case .skips: if beat % 2 == 0 { hit(time) }
        case .stops(let last): if beat < last { hit(time) }
        case .silent: break
        }
    }
}

extension SeededGenerator {
    /// A normally distributed number with a deviation of 1.
    mutating func gaussian() -> Double {
        (0..<12).reduce(-6) { sum, _ in sum + Double.random(in: 0..<1, using: &self) }
    }
}
