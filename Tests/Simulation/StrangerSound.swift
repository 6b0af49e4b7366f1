internal import Foundation

/// Endless sound that does not follow the clock: noise, speech, or music of its own.
///
/// Generating it is so fast that tests can use hours of it.
package struct StrangerSound {
    package enum Kind: String, CaseIterable, Sendable {
        /// Hiss that swells and fades, with crackles, over hum.
        case noise
        /// A voice: syllables of 100 to 350 ms, each with vowels, hisses or a stop before, words and breaths.
        case speech
        /// Another drum machine at nearly the clock's tempo, or at half or twice that.
        case music
    }

    package let kind: Kind
    private let sampleRate: Double
    private var random: SeededGenerator
    private var noise = FastNoise()
    private let level: Float
    private let hum: (sine: Float, cosine: Float)
    private var humState: (Float, Float) = (1, 0)
    /// The present sound: samples left, loudness, and its change with each sample.
    private var part = Part()
    /// The voice's formants, which differ with each syllable.
    private var formants = [Resonator(), Resonator(), Resonator()]
    private var pulse: (phase: Float, step: Float) = (0, 0)
    private var drums: [[Float]] = []
    /// Hits that are still ringing, each with its position in its sound.
    private var ringing: [(drum: Int, place: Int, level: Float)] = []
    private var toNextHit = 0.0
    /// By how many samples the newest hit was late.
    private var lateness = 0.0
    private let beat: (samples: Double, spread: Double)

    private struct Part {
        var left = 0
        var envelope: Float = 0
        var factor: Float = 1
        var voiced: Float = 0
        var hiss: Float = 0
    }

    private struct Resonator {
        var (a, b, gain): (Float, Float, Float) = (0, 0, 0)
        var (y1, y2): (Float, Float) = (0, 0)

        mutating func tune(_ frequency: Double, width: Double, _ sampleRate: Double) {
            let radius = exp(-.pi * width / sampleRate)
            a = Float(2 * radius * cos(2 * .pi * frequency / sampleRate))
            b = Float(-radius * radius)
            gain = Float((1 - radius) * 2)
        }

        mutating func filtered(_ value: Float) -> Float {
            let y = gain * value + a * y1 + b * y2
            (y2, y1) = (y1, y)
            return y
        }
    }

    /// - Parameters:
    ///   - kind: the kind of sound.
    ///   - interval: time between beats of the clock that it does not follow, in microseconds.
    ///   - sampleRate: samples per second.
    ///   - random: source of all randomness.
    package init(_ kind: Kind, interval: Double, sampleRate: Double, random: SeededGenerator) {
        self.kind = kind
        self.sampleRate = sampleRate
        var random = random
        level = Float(pow(10, Double.random(in: -2.5 ... -0.3, using: &random)))
        noise = FastNoise(state: UInt32(truncatingIfNeeded: random.next()) | 1)
        let angle = 2 * .pi * (random.chance(0.5) ? 50.0 : 60) / sampleRate
        hum = (Float(sin(angle)), Float(cos(angle)))
        let apart = 1 + Double.random(in: -30...30, using: &random) / 1e6
        let pulse = [0.5, 1, 1, 1, 2].randomElement(using: &random)! * apart  // five
        beat = (pulse * interval / 1e6 * sampleRate, Double.random(in: 0...0.005, using: &random) * sampleRate)
        if kind == .music {
            drums = [Recording.Sound.click, .kick, .snare, .hat].map { sound in
                var recording = Recording(seconds: 0.25, sampleRate: sampleRate)
                recording.add(sound, at: 0.001, level: 1, random: &random)
                return recording.samples
            }
        }
        self.random = random
    }

    /// The next samples.
    package mutating func next(_ count: Int) -> [Float] {
        var samples = [Float](repeating: 0, count: count)
        switch kind {
        case .noise: addNoise(to: &samples)
        case .speech: addSpeech(to: &samples)
        case .music: addMusic(to: &samples)
        }
        return samples
    }

    private mutating func addNoise(to samples: inout [Float]) {
        for index in samples.indices {
            if part.left == 0 { beginNoise() }
            part.left -= 1
            part.envelope *= part.factor
            let (sine, cosine) = humState
            humState = (sine * hum.cosine + cosine * hum.sine, cosine * hum.cosine - sine * hum.sine)
            samples[index] = level * (part.envelope * noise.next() + 0.05 * sine)
        }
        let size = (humState.0 * humState.0 + humState.1 * humState.1).squareRoot()
        humState = (humState.0 / size, humState.1 / size)
    }

    /// A swell of some tenths of a second, or a crackle.
    private mutating func beginNoise() {
        let isCrackle = random.chance(0.4)
        let seconds = isCrackle ? 0.02 : Double.random(in: 0.05...1, using: &random)
        part.left = Int(seconds * sampleRate)
        let loudness = Double.random(in: isCrackle ? 0.2...1 : 0.02...0.3, using: &random)
        part.envelope = Float(loudness)
        let end = loudness * Double.random(in: isCrackle ? 0.01...0.1 : 0.2...5, using: &random)
        part.factor = Float(pow(min(1, end) / loudness, 1 / Double(part.left)))
    }

    private mutating func addSpeech(to samples: inout [Float]) {
        for index in samples.indices {
            if part.left == 0 { beginSound() }
            part.left -= 1
            part.envelope = min(1, part.envelope * part.factor)
            pulse.phase += pulse.step
            if pulse.phase >= 1 { pulse.phase -= 1 }
            // A glottis opens slowly and closes at once.
            let glottis = pulse.phase * pulse.phase * (1 - pulse.phase) * 6 - 0.5
            let source = part.envelope * (part.voiced * glottis + part.hiss * noise.next())
            var voice: Float = 0
            for number in 0..<3 { voice += formants[number].filtered(source) }
            samples[index] = level * voice * 8
        }
    }

    /// A pause, a hiss, a stop that bursts, or a vowel.
    private mutating func beginSound() {
        let isPause = random.chance(0.25)
        let isConsonant = random.chance(0.4)
        let seconds =
            isPause
            ? Double.random(in: 0.03...0.9, using: &random)
            : isConsonant
                ? Double.random(in: 0.01...0.1, using: &random) : Double.random(in: 0.08...0.3, using: &random)
        part.left = Int(seconds * sampleRate)
        part.envelope = isPause ? 0 : isConsonant ? 1 : Float.random(in: 0.02...0.5, using: &random)
        let change =
            isConsonant ? Double.random(in: 0.01...0.3, using: &random) : Double.random(in: 0.1...20, using: &random)
        part.factor = Float(pow(change, 1 / Double(part.left)))
        (part.voiced, part.hiss) = isConsonant ? (0, 0.5) : (1, 0.02)
        pulse.step = Float(Double.random(in: 80...260, using: &random) / sampleRate)
        let centers =
            isConsonant ? [2_000.0...3_000, 3_500...5_000, 6_000...9_000] : [250.0...850, 800...2_300, 2_300...3_200]
        for number in 0..<3 {
            formants[number].tune(Double.random(in: centers[number], using: &random), width: 90, sampleRate)
        }
    }

    private mutating func addMusic(to samples: inout [Float]) {
        var index = 0
        while index < samples.count {
            if toNextHit <= 0 {
                ringing.append((random.chance(0.8) ? 0 : Int.random(in: 1..<4, using: &random), 0, level))
                if ringing.count > 4 { ringing.removeFirst() }
                let late = Double.random(in: -beat.spread...beat.spread, using: &random)
                toNextHit += beat.samples + late - lateness
                lateness = late
            }
            let run = min(samples.count - index, max(1, Int(toNextHit.rounded(.up))))
            for number in ringing.indices {
                let (drum, place, level) = ringing[number]
                let length = min(run, drums[drum].count - place)
                for step in 0..<max(0, length) { samples[index + step] += level * drums[drum][place + step] }
                ringing[number].place += run
            }
            ringing.removeAll { $0.place >= drums[$0.drum].count }
            toNextHit -= Double(run)
            index += run
        }
        for index in samples.indices { samples[index] += 0.002 * noise.next() }
    }

    /// White noise from -1 to 1, cheap (xorshift).
    private struct FastNoise {
        var state: UInt32 = 1

        mutating func next() -> Float {
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            return Float(Int32(bitPattern: state)) / 2_147_483_648
        }
    }
}
