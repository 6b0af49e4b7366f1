/// A sound card that hears a simulated machine: its crystal runs apart from this machine's, its stamps come unevenly.
///
/// Sound is made in pieces of 8 s, so that it can go on as long as somebody listens.
package struct VirtualCapture: Sendable {
    package let sampleRate: Double
    /// By how much the card's crystal is fast, in parts per million.
    private let partsPerMillion: Double
    private let spoiled: StudioTake.Spoiled
    private let hum: Double
    private var random: SeededGenerator
    /// Hits that are still to be rendered: when, by this machine's clock in microseconds.
    private var hits: [(sound: Recording.Sound, microseconds: Double, level: Double)] = []
    /// MIDI bytes on the channel, for a cable in an audio jack.
    private var bytes: [(value: UInt8, microseconds: Double)] = []
    private var rest: [Float] = []
    private var pieces = 0

    /// Seconds of a piece, whole waves of hum; and what it may ring on.
    private static let seconds = 8.0
    private static let tail = 2.0

    package init(
        sampleRate: Double = 48_000, partsPerMillion: Double = 0, spoiled: StudioTake.Spoiled = .not,
        random: SeededGenerator
    ) {
        self.sampleRate = sampleRate
        self.partsPerMillion = partsPerMillion
        self.spoiled = spoiled
        self.random = random.split("capture")
        hum = self.random.next() % 2 == 0 ? 50 : 60
    }

    /// Adds a hit; in time before its piece is rendered.
    package mutating func add(_ sound: Recording.Sound, atMicroseconds microseconds: Double, level: Double) {
        hits.append((sound, microseconds, level))
    }

    /// Adds a byte of a MIDI cable; in time before its piece is rendered.
    package mutating func add(_ byte: UInt8, atMicroseconds microseconds: Double) { bytes.append((byte, microseconds)) }

    /// Seconds of the card's own time since the first sample.
    private func cardTime(_ microseconds: Double) -> Double { microseconds / 1e6 * (1 + partsPerMillion / 1e6) }

    /// When, by this machine's clock, so many samples have been taken, in microseconds.
    package func time(ofSample sample: Int) -> Double {
        Double(sample) / sampleRate * 1e6 / (1 + partsPerMillion / 1e6)
    }

    /// A driver's stamp for that: up to 1 ms early or late, and one in fifty 20 ms late.
    package mutating func stamp(ofSample sample: Int) -> Double {
        let jitter = Double.random(in: -1_000...1_000, using: &random)
        return time(ofSample: sample) + (random.chance(0.02) ? 20_000 : jitter)
    }

    /// Seconds after which a hit is too soft to matter; what follows would take most of the time of a test.
    private static func ring(_ sound: Recording.Sound) -> Double {
        switch sound {
        case .click, .trigger: 0.06
        case .kick: 1.0
        case .snare: 0.6
        case .hat: 0.3
        }
    }

    /// Until when hits must have been added before more sound can be had, in microseconds.
    package var nextPieceEnd: Double { Double(pieces + 1) * Self.seconds * 1e6 * 1.001 }

    /// The sound of the next piece.
    package mutating func nextPiece() -> [Float] {
        var recording = Recording(seconds: Self.seconds + Self.tail, sampleRate: sampleRate)
        let start = Double(pieces) * Self.seconds
        let due = hits.filter { cardTime($0.microseconds) < start + Self.seconds }
        hits = hits.filter { cardTime($0.microseconds) >= start + Self.seconds }
        for hit in due {
            recording.add(
                hit.sound, at: cardTime(hit.microseconds) - start, level: hit.level, ring: Self.ring(hit.sound),
                random: &random)
        }
        let sent = bytes.filter { cardTime($0.microseconds) < start + Self.seconds }
        bytes = bytes.filter { cardTime($0.microseconds) >= start + Self.seconds }
        if !sent.isEmpty {
            recording.addMIDI(sent.map { ($0.value, cardTime($0.microseconds) - start) }, level: 0.3)
        }
        if [.reverb, .all].contains(spoiled) { recording.addReverb(share: 0.5) }
        let length = Int(Self.seconds * sampleRate)
        var samples = Array(recording.samples[..<length])
        for index in rest.indices { samples[index] += rest[index] }
        rest = Array(recording.samples[length...])
        var room = Recording(seconds: Self.seconds, sampleRate: sampleRate)
        if [.noise, .all].contains(spoiled) { room.addNoise(level: 0.005, random: &random) }
        if [.hum, .all].contains(spoiled) { room.addHum(level: 0.02, frequency: hum) }
        for index in samples.indices { samples[index] += room.samples[index] }
        if spoiled == .clipping { samples = samples.map { min(max(5 * $0, -1), 1) } }
        pieces += 1
        return samples
    }
}
