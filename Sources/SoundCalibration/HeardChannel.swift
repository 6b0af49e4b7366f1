internal import OnsetDetection

private import func Glibc.log10

/// The sounds that are heard on one channel, and the MIDI ticks if it is a cable.
struct HeardChannel: Sendable {
    private let sampleRate: Double
    /// Largest number of sounds, and of ticks, that are kept.
    private let most: Int
    private var detector: OnsetDetector
    /// Reads MIDI bytes; nil if ``readsMIDI`` is false, or if the channel has turned out not to be a MIDI cable.
    private var bytes: MIDIByteDetector?
    /// Whether the channel may be a MIDI cable.
    private let readsMIDI: Bool
    /// Number of samples heard before the first one of ``bytes``.
    private var bytesOrigin = 0
    private var onsets: [Onset] = []
    /// The times of MIDI ticks, in samples.
    private var ticks: [Double] = []
    /// The times of those ticks that were the first after a Start or Continue, in samples.
    private var firstTicks: [Double] = []
    /// Whether the next tick is the first after a Start or Continue.
    private var isFirst = false
    /// Number of samples heard, now and when each recent sound that clips was found.
    private var (heard, clips): (Int, [Int]) = (0, [])
    private var peak: Float = 0
    /// A peak that decays; a tenth of it is left after half a second.
    private var recentPeak: Float = 0

    private static let (tick, start, `continue`): (UInt8, UInt8, UInt8) = (0xF8, 0xFA, 0xFB)
    /// A channel with at least this many ticks per beat is a MIDI cable.
    private static let ticksOfCable = 12
    private static let ticksPerBeat = 24.0
    /// Largest time from the first tick sent to the first tick heard, in microseconds.
    ///
    /// A tick that is farther away belongs to another Start.
    private static let largestLead = 500_000.0
    /// Number of failures after which the channel is not a MIDI cable, and reading bytes would waste time.
    private static let mostFailures = 1_000
    /// How fast ``recentPeak`` decays, per second: by a factor of e in 1/4.6 s.
    private static let fading = 4.6
    /// How long a sound that clips is reported, in seconds; longer than a beat at 40 BPM.
    private static let clipping = 2.0

    /// Creates a channel on which nothing has been heard.
    ///
    /// - Parameters:
    ///   - sampleRate: samples per second.
    ///   - most: the largest number of sounds, and of ticks, to keep.
    ///   - readsMIDI: whether the channel may be a MIDI cable.
    init(sampleRate: Double, most: Int, readsMIDI: Bool = false) {
        self.sampleRate = sampleRate
        self.most = most
        detector = OnsetDetector(sampleRate: sampleRate)
        self.readsMIDI = readsMIDI
        forget()
    }

    /// Forgets all sounds, ticks and levels, and checks again whether the channel is a MIDI cable.
    mutating func forget() {
        (onsets, ticks, firstTicks, isFirst) = ([], [], [], false)
        (clips, peak) = ([], 0)
        // Keep a detector that still works: it knows the line's resting level, and a new one reads nothing for 5 ms.
        guard readsMIDI, bytes == nil else { return }
        (bytes, bytesOrigin) = (MIDIByteDetector(sampleRate: sampleRate), heard)
    }

    /// Number of sounds.
    var count: Int { onsets.count }
    /// Number of sounds in the last two seconds that clip.
    var clipped: Int { clips.count }
    /// The loudest sample, in decibels of full scale, so at most about 0; nil for silence.
    var decibels: Double? { Self.decibels(peak) }
    /// The recent peak, in decibels of full scale; nil for silence.
    var recentDecibels: Double? { Self.decibels(recentPeak) }

    private static func decibels(_ peak: Float) -> Double? {
        peak > 0 ? 20 * log10(Double(peak)) : nil
    }

    /// Processes the next samples; full scale is 1.
    mutating func take(_ samples: [Float]) {
        let loudest = samples.reduce(0) { $1.isFinite ? max($0, abs($1)) : $0 }
        peak = max(peak, loudest)
        recentPeak = max(recentPeak * max(0, 1 - Float(Self.fading * Double(samples.count) / sampleRate)), loudest)
        let new = detector.take(samples)
        heard += samples.count
        clips.removeAll { Double(heard - $0) > Self.clipping * sampleRate }
        clips += new.filter(\.isClipped).map { _ in heard }
        onsets += new.prefix(max(0, most - onsets.count))
        guard let read = bytes?.take(samples), let failures = bytes?.failures else { return }
        if failures > Self.mostFailures { bytes = nil }
        for byte in read where ticks.count < most {
            switch byte.value {
            case Self.start, Self.continue: isFirst = true
            case Self.tick:
                let time = byte.time + Double(bytesOrigin)
                ticks.append(time)
                if isFirst { firstTicks.append(time) }
                isFirst = false
            default: break
            }
        }
    }

    /// The sounds with their times on this computer's clock; empty while the sample clock is not known.
    func hits(_ clock: SampleClock) -> [Hit] { onsets.compactMap { hit($0, clock) } }

    /// The newest of ``hits(_:)``.
    func newestHit(_ clock: SampleClock) -> Hit? { onsets.last.flatMap { hit($0, clock) } }

    private func hit(_ onset: Onset, _ clock: SampleClock) -> Hit? {
        clock.time(ofSample: onset.time).map {
            Hit(time: $0, error: onset.error / sampleRate * 1_000_000, isClipped: onset.isClipped)
        }
    }

    /// The sounds to compare the machine with; for a MIDI cable, the ticks that mark the beats.
    ///
    /// All ticks look the same, and the card and the cable may be late by more than a tick. The first tick after the
    /// Start shows how late they are: it is the time from when that tick was sent to when it was heard.
    ///
    /// - Parameters:
    ///   - clock: converts samples to times.
    ///   - beats: when each beat was sent, in microseconds.
    ///   - firstTick: when the first tick after the newest Start was sent, in microseconds; nil if none was.
    /// - Returns: the sounds, or the ticks of a cable if it was heard to start.
    func compared(_ clock: SampleClock, _ beats: [Double], firstTick: Double?) -> SoundJudgement.Other {
        guard beats.count > 1, ticks.count >= Self.ticksOfCable * beats.count else { return .sounds(hits(clock)) }
        let leads = firstTicks.compactMap { first in clock.time(ofSample: first).map { $0 - (firstTick ?? .infinity) } }
        guard let lead = leads.min(by: { abs($0) < abs($1) }), abs(lead) < Self.largestLead else {
            return .cableWithoutStart
        }
        let times = ticks.compactMap { clock.time(ofSample: $0) }
        let reach = median(zip(beats.dropFirst(), beats).map { $0 - $1 }) / Self.ticksPerBeat / 2
        var search = NearestSearch(times)
        let nearest: [Hit] = beats.map { $0 + lead }.compactMap { beat in
            guard let index = search.nearest(to: beat), abs(times[index] - beat) < reach else { return nil }
            return Hit(time: times[index], error: 10)
        }
        return .cable(nearest)
    }
}
