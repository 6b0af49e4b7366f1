import ArgumentParser
import BeatTime
import ClockMeter
import MIDIClock
import OnsetDetection

/// What a recording or a sound card's input contains.
enum SoundKind: String, ExpressibleByArgument, CaseIterable, Encodable {
    /// Sounds on a beat, such as those of a metronome or a drum machine.
    case clicks
    /// A MIDI cable in an audio jack.
    case midi
}

/// Measures the clock on one channel of sound; times count from its first sample.
protocol ChannelMeter: Sendable {
    mutating func take(_ samples: [Float])
    /// Tells the meter that samples were lost.
    mutating func lost()
    /// Begins to measure anew, while the sound goes on.
    mutating func beginAnew()
    /// Tells the meter that the sound has ended.
    mutating func finish()
    func figures(nominal: Tempo?) -> ClockFigures
    /// When each sound began or each tick came, in microseconds.
    var times: [Double] { get }
    var clipped: Int { get }
    var unreadable: Int { get }
}

extension SoundKind {
    /// Lowest sample rate at which it can be measured, in samples per second.
    var leastSampleRate: Int { self == .midi ? 44_100 : 8_000 }

    func meter(sampleRate: Double) -> any ChannelMeter {
        switch self {
        case .clicks: ClickMeter(sampleRate: sampleRate)
        case .midi: MIDIMeter(sampleRate: sampleRate)
        }
    }
}

/// The newest times of a recording: at least the last million.
private struct Times {
    private(set) var all: [Double] = []

    mutating func append(_ time: Double) {
        if all.count >= 1 << 21 { all.removeFirst(1 << 20) }
        all.append(time)
    }
}

/// Measures clicks and drum hits.
private struct ClickMeter: ChannelMeter {
    private let sampleRate: Double
    private var detector: OnsetDetector
    private var meter = SoundMeter(start: HostTime(microseconds: 0))
    private var heard = Times()
    private(set) var clipped = 0
    let unreadable = 0
    private var count = 0

    init(sampleRate: Double) {
        self.sampleRate = sampleRate
        detector = OnsetDetector(sampleRate: sampleRate)
    }

    var times: [Double] { heard.all }

    mutating func take(_ samples: [Float]) {
        count += samples.count
        take(detector.take(samples))
        meter.timePassed(to: HostTime(sample: Double(count), sampleRate))
    }

    mutating func lost() { meter.soundLost() }

    mutating func beginAnew() { self = ClickMeter(sampleRate: sampleRate) }

    mutating func finish() {
        if let last = detector.finish() { take([last]) }
    }

    private mutating func take(_ onsets: [Onset]) {
        for onset in onsets {
            if onset.isClipped { clipped += 1 }
            heard.append(onset.time / sampleRate * 1_000_000)
            meter.received(at: HostTime(sample: onset.time, sampleRate))
        }
    }

    func figures(nominal: Tempo?) -> ClockFigures { meter.figures(nominal: nominal?.beatsPerMinute) }
}

/// Measures the MIDI messages of a recorded cable.
private struct MIDIMeter: ChannelMeter {
    private let sampleRate: Double
    private var detector: MIDIByteDetector
    private var parser = ClockByteParser()
    private var meter = ClockMeter(start: HostTime(microseconds: 0))
    private var heard = Times()
    private var count = 0

    init(sampleRate: Double) {
        self.sampleRate = sampleRate
        detector = MIDIByteDetector(sampleRate: sampleRate)
    }

    var times: [Double] { heard.all }
    var clipped: Int { detector.isClipped ? 1 : 0 }
    var unreadable: Int { detector.failures }

    mutating func take(_ samples: [Float]) {
        count += samples.count
        take(detector.take(samples))
        meter.timePassed(to: HostTime(sample: Double(count), sampleRate))
    }

    mutating func lost() { meter.messagesLost() }

    /// A new detector would take the rest of a byte that is on the line for one that cannot be read.
    mutating func beginAnew() {
        detector.countAnew()
        (meter, heard) = (ClockMeter(start: HostTime(sample: Double(count), sampleRate)), Times())
    }

    mutating func finish() { take(detector.finish()) }

    private mutating func take(_ bytes: [MIDIByteDetector.Byte]) {
        for byte in bytes {
            guard let message = parser.received(byte.value) else { continue }
            if message == .timingClock { heard.append(byte.time / sampleRate * 1_000_000) }
            meter.received(message, at: HostTime(sample: byte.time, sampleRate))
        }
    }

    func figures(nominal: Tempo?) -> ClockFigures { meter.figures(nominal: nominal?.beatsPerMinute) }
}

extension HostTime {
    /// The time of a sample, if the recording begins at 0.
    fileprivate init(sample: Double, _ sampleRate: Double) {
        self.init(microseconds: max(0, Int64((sample / sampleRate * 1_000_000).rounded())))
    }
}
