internal import OnsetDetection

private import func Glibc.log10

/// What is heard on one channel.
struct HeardChannel: Sendable {
    private let sampleRate: Double
    private let most: Int
    private var detector: OnsetDetector
    /// Nil if the channel is not compared with, or was no MIDI cable so far.
    private var bytes: MIDIByteDetector?
    private let readsMIDI: Bool
    /// Samples heard before those that ``bytes`` counts.
    private var bytesOrigin = 0
    private var onsets: [Onset] = []
    /// Samples at which a MIDI tick came.
    private var ticks: [Double] = []
    /// Those of them that were the first after a Start or Continue.
    private var firstTicks: [Double] = []
    private var isFirst = false
    /// Samples heard, and how many there were when each sound that clipped of late was found.
    private var (heard, clips): (Int, [Int]) = (0, [])
    private var peak: Float = 0
    /// The loudest of late; a tenth is left after half a second.
    private var recentPeak: Float = 0

    private static let (tick, start, `continue`): (UInt8, UInt8, UInt8) = (0xF8, 0xFA, 0xFB)
    /// So many ticks for each beat make a MIDI cable.
    private static let ticksOfCable = 12
    private static let ticksPerBeat = 24.0
    /// A first tick that is farther from the one that was sent, in microseconds, is of another Start.
    private static let largestLead = 500_000.0
    /// After so many failures it is no MIDI cable, and to go on would take time for nothing.
    private static let mostFailures = 1_000
    private static let fading = 4.6
    /// How long a sound that clips is told, in seconds: longer than a beat at 40 BPM.
    private static let clipping = 2.0

    init(sampleRate: Double, most: Int, readsMIDI: Bool = false) {
        self.sampleRate = sampleRate
        self.most = most
        detector = OnsetDetector(sampleRate: sampleRate)
        self.readsMIDI = readsMIDI
        forget()
    }

    /// Forgets the sounds and ticks that were heard, how loud they were, and that it was no MIDI cable.
    mutating func forget() {
        (onsets, ticks, firstTicks, isFirst) = ([], [], [], false)
        (clips, peak) = ([], 0)
        // One that has not given up knows the line already, and is not deaf for its first milliseconds.
        guard readsMIDI, bytes == nil else { return }
        (bytes, bytesOrigin) = (MIDIByteDetector(sampleRate: sampleRate), heard)
    }

    var count: Int { onsets.count }
    /// Sounds of the last two seconds that clip.
    var clipped: Int { clips.count }
    var decibels: Double? { Self.decibels(peak) }
    var recentDecibels: Double? { Self.decibels(recentPeak) }

    private static func decibels(_ peak: Float) -> Double? {
        peak > 0 ? 20 * log10(Double(peak)) : nil
    }

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

    func hits(_ clock: SampleClock) -> [Hit] { onsets.compactMap { hit($0, clock) } }

    /// The newest of ``hits(_:)``.
    func newestHit(_ clock: SampleClock) -> Hit? { onsets.last.flatMap { hit($0, clock) } }

    private func hit(_ onset: Onset, _ clock: SampleClock) -> Hit? {
        clock.time(ofSample: onset.time).map {
            Hit(time: $0, error: onset.error / sampleRate * 1_000_000, isClipped: onset.isClipped)
        }
    }

    /// Sounds, or of a MIDI cable the ticks that are on the beats.
    ///
    /// Ticks look all alike, and the card and the cable may well be a tick late. So the first tick after the Start, as
    /// it was sent and as it was heard, says how late they are.
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
