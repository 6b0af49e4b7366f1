/// A simulated sound card with its own clock rate and uneven timestamps, which records a simulated machine.
///
/// The sound is rendered in pieces of 8 s, so that it can be endless.
package struct VirtualCapture: Sendable {
    package let sampleRate: Double
    /// By how much the card's clock is fast, in parts per million.
    private let partsPerMillion: Double
    private let spoiled: StudioTake.Spoiled
    private let hum: Double
    private var random: SeededGenerator
    /// The times of hits that are not rendered yet, in microseconds of this machine's clock.
    private var hits: [(sound: Recording.Sound, microseconds: Double, level: Double)] = []
    /// MIDI bytes on the channel, for a cable in an audio jack.
    private var bytes: [(value: UInt8, microseconds: Double)] = []
    private var rest: [Float] = []
    private var pieces = 0

    /// Length of a piece in seconds, a whole number of hum periods; and how long a hit may ring on after it.
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

    /// Adds a hit; call it before its piece is rendered.
    package mutating func add(_ sound: Recording.Sound, atMicroseconds microseconds: Double, level: Double) {
        hits.append((sound, microseconds, level))
    }

    /// Adds a byte of a MIDI cable; call it before its piece is rendered.
    package mutating func add(_ byte: UInt8, atMicroseconds microseconds: Double) { bytes.append((byte, microseconds)) }

    /// Time since the first sample, in seconds of the card's own clock.
    private func cardTime(_ microseconds: Double) -> Double { microseconds / 1e6 * (1 + partsPerMillion / 1e6) }

    /// When the card has taken a number of samples, in microseconds of this machine's clock.
    package func time(ofSample sample: Int) -> Double {
        Double(sample) / sampleRate * 1e6 / (1 + partsPerMillion / 1e6)
    }

    /// The driver's timestamp for a number of samples: up to 1 ms early or late; one in fifty is 20 ms late.
    package mutating func stamp(ofSample sample: Int) -> Double {
        let jitter = Double.random(in: -1_000...1_000, using: &random)
        return time(ofSample: sample) + (random.chance(0.02) ? 20_000 : jitter)
    }

    /// Seconds after which a hit is too soft to matter; rendering more would make tests slow.
    private static func ring(_ sound: Recording.Sound) -> Double {
        switch sound {
        case .click, .trigger: 0.06
        case .kick: 1.0
        case .snare: 0.6
        case .hat: 0.3
        }
    }

    /// All hits before this time must be added before the next piece is rendered, in microseconds.
    package var nextPieceEnd: Double { Double(pieces + 1) * Self.seconds * 1e6 * 1.001 }

    /// Renders the next piece.
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
