internal import Foundation

/// A simulated recording of sounds with known beginnings, with the disturbances of a studio.
package struct Recording: Sendable {
    package let sampleRate: Double
    package private(set) var samples: [Float]

    package init(seconds: Double, sampleRate: Double = 48_000) {
        self.sampleRate = sampleRate
        samples = [Float](repeating: 0, count: Int(seconds * sampleRate))
    }

    /// Kinds of hits.
    package enum Sound: String, CaseIterable, Sendable {
        /// A damped tone, like a metronome's.
        case click
        /// A gate or trigger of 5 ms: a step up and a step down.
        case trigger
        /// A tone whose pitch falls from 180 to 50 Hz, and whose level rises within 0.8 ms.
        case kick
        /// A tone and noise.
        case snare
        /// Bright noise.
        case hat
    }

    /// Adds a hit at a time in seconds, which may lie between two samples; it rings for some seconds.
    package mutating func add(
        _ sound: Sound, at second: Double, level: Double, ring: Double = 1.2, random: inout SeededGenerator
    ) {
        let begin = second * sampleRate
        let length = Int(ring * sampleRate)
        var noise = (0.0, 0.0)
        for index in max(0, Int(begin) - 2)..<min(samples.count, Int(begin) + length) {
            let time = (Double(index) - begin) / sampleRate
            noise = (Double.random(in: -1...1, using: &random), noise.0)
            samples[index] += Float(level * Self.value(of: sound, at: time, sampleRate, noise))
        }
    }

    private static func value(
        of sound: Sound, at time: Double, _ sampleRate: Double, _ noise: (Double, Double)
    ) -> Double {
        if sound == .trigger {
            // A converter's filter spreads each step over two samples.
            func step(_ time: Double) -> Double {
                let place = min(max(time * sampleRate, -1), 1)
                return 0.5 + 0.5 * sin(place * .pi / 2)
            }
            return step(time) - step(time - 0.005)
        }
        guard time > 0 else { return 0 }
        func attack(_ seconds: Double) -> Double { min(1, time / seconds) }
        switch sound {
        case .click: return sin(2 * .pi * 1_800 * time) * exp(-time / 0.004)
        case .kick:
            let turns = 50 * time + 130 * 0.03 * (1 - exp(-time / 0.03))
            return attack(0.000_8) * sin(2 * .pi * turns) * exp(-time / 0.12)
        case .snare:
            return attack(0.000_2) * (0.5 * sin(2 * .pi * 190 * time) + 0.5 * noise.0) * exp(-time / 0.07)
        case .hat: return attack(0.000_1) * 0.5 * (noise.0 - noise.1) * exp(-time / 0.03)
        case .trigger: return 0
        }
    }

    /// Adds white noise; the level is that of its largest samples.
    package mutating func addNoise(level: Double, random: inout SeededGenerator) {
        for index in samples.indices {
            let value = Double.random(in: -1...1, using: &random) + Double.random(in: -1...1, using: &random)
            samples[index] += Float(value * level / 2)
        }
    }

    /// Adds hum with harmonics.
    package mutating func addHum(level: Double, frequency: Double = 50) {
        for index in samples.indices {
            let angle = 2 * .pi * frequency * Double(index) / sampleRate
            samples[index] += Float(level * (0.7 * sin(angle) + 0.2 * sin(3 * angle + 1) + 0.1 * sin(7 * angle)))
        }
    }

    /// Adds the reverb of a room: four echoes that repeat and fade.
    ///
    /// - Parameters:
    ///   - share: its level relative to the sound.
    ///   - seconds: time until it has fallen to a thousandth.
    package mutating func addReverb(share: Float, seconds: Double = 0.8) {
        let dry = samples
        for delay in [0.0297, 0.0371, 0.0411, 0.0437] {
            let length = Int(delay * sampleRate)
            let back = Float(pow(0.001, delay / seconds))
            var line = [Float](repeating: 0, count: samples.count)
            for index in samples.indices where index >= length {
                line[index] = dry[index - length] + back * line[index - length]
                samples[index] += share * line[index] / 4
            }
        }
    }

    /// Amplifies the recording, and clips it at full scale.
    package mutating func clip(gain: Float) {
        for index in samples.indices { samples[index] = min(max(samples[index] * gain, -1), 1) }
    }

    /// Removes everything below some hertz, as a sound card's input does.
    package mutating func coupleAC(frequency: Double) {
        let share = Float(1 / (1 + 2 * .pi * frequency / sampleRate))
        var (input, output) = (Float(0), Float(0))
        for index in samples.indices {
            output = share * (output + samples[index] - input)
            input = samples[index]
            samples[index] = output
        }
    }
}

/// MIDI cables.
extension Recording {
    /// Adds bytes as a MIDI cable carries them, after a card's filter, which removes everything above 20 kHz.
    ///
    /// - Parameters:
    ///   - bytes: each with the time of its start bit, in seconds.
    ///   - level: the level of a zero bit; negative for inverted polarity.
    ///   - bitsPerSecond: the sender's rate, which may be off by 1 %.
    package mutating func addMIDI(_ bytes: [(UInt8, Double)], level: Double, bitsPerSecond: Double = 31_250) {
        let steps = StepResponse(cutOff: 20_000 / sampleRate)
        /// Lasting changes of the level, by sample number.
        var jumps = [Float](repeating: 0, count: samples.count)
        for (byte, second) in bytes {
            var previous = 1
            for bit in 0..<10 {
                let value = bit == 0 ? 0 : bit == 9 ? 1 : Int(byte >> (bit - 1)) & 1
                defer { previous = value }
                guard value != previous else { continue }
                let place = (second + Double(bit) / bitsPerSecond) * sampleRate
                steps.add(to: &samples, jumps: &jumps, at: place, level: Float(value == 0 ? level : -level))
            }
        }
        var sum: Float = 0
        for index in samples.indices {
            sum += jumps[index]
            samples[index] += sum
        }
    }

    /// The response of a card's input to a step.
    private struct StepResponse {
        private static let reach = 40
        private static let parts = 64
        /// The values from `reach` samples before the step to `reach` samples after it.
        private let values: [Float]

        init(cutOff: Double) {
            var sum = 0.0
            var values: [Double] = []
            for index in -Self.reach * Self.parts...Self.reach * Self.parts {
                let distance = Double(index) / Double(Self.parts)
                let angle = 2 * .pi * cutOff * distance
                let window = 0.5 + 0.5 * cos(.pi * distance / Double(Self.reach))
                sum += (index == 0 ? 1 : sin(angle) / angle) * window
                values.append(sum)
            }
            self.values = values.map { Float($0 / sum) }
        }

        func add(to samples: inout [Float], jumps: inout [Float], at place: Double, level: Float) {
            let first = Int(place) - Self.reach + 1
            let end = first + 2 * Self.reach - 1
            for index in max(0, first)..<min(samples.count, max(0, end)) {
                let part = (Double(index) - place + Double(Self.reach)) * Double(Self.parts)
                samples[index] += level * values[min(max(0, Int(part.rounded())), values.count - 1)]
            }
            if jumps.indices.contains(end) { jumps[end] += level }
        }
    }
}
