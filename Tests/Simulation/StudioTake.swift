/// A recording of one kind of hit every 0.5 s, each up to 2 ms late and up to 4 dB softer.
package struct StudioTake: Sendable {
    package private(set) var recording: Recording
    /// When each hit begins, in seconds.
    package private(set) var truth: [Double] = []

    /// What disturbs the recording.
    package enum Spoiled: String, CaseIterable, Sendable {
        case not, noise, hum, reverb, clipping, all
    }

    package init(
        _ sound: Recording.Sound, _ spoiled: Spoiled, sampleRate: Double = 48_000, count: Int = 16, seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        recording = Recording(seconds: 0.3 + 0.5 * Double(count), sampleRate: sampleRate)
        for number in 0..<count {
            truth.append(0.2 + 0.5 * Double(number) + Double.random(in: 0...0.002, using: &random))
            let level = Double.random(in: 0.3...0.5, using: &random)
            recording.add(sound, at: truth[number], level: level, random: &random)
        }
        if [.reverb, .all].contains(spoiled) { recording.addReverb(share: 0.5) }
        if [.noise, .all].contains(spoiled) { recording.addNoise(level: 0.005, random: &random) }
        if [.hum, .all].contains(spoiled) { recording.addHum(level: 0.02, frequency: seed % 2 == 0 ? 50 : 60) }
        if [.clipping, .all].contains(spoiled) { recording.clip(gain: 5) }
    }
}
