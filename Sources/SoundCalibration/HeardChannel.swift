internal import OnsetDetection

private import func Glibc.log10

/// What is heard on one channel.
struct HeardChannel: Sendable {
    private let sampleRate: Double
    private let most: Int
    private var detector: OnsetDetector
    private var bytes: MIDIByteDetector?
    private var onsets: [Onset] = []
    /// Samples at which a MIDI tick came.
    private var ticks: [Double] = []
    /// Those of them that were the first after a Start or Continue.
    private var firstTicks: [Double] = []
    private var isFirst = false
    private(set) var clipped = 0
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

    init(sampleRate: Double, most: Int, readsMIDI: Bool = false) {
        self.sampleRate = sampleRate
        self.most = most
        detector = OnsetDetector(sampleRate: sampleRate)
        bytes = readsMIDI ? MIDIByteDetector(sampleRate: sampleRate) : nil
    }

    /// Forgets the sounds and ticks that were heard, and how loud they were.
    mutating func forget() {
        (onsets, ticks, firstTicks, isFirst) = ([], [], [], false)
        (clipped, peak) = (0, 0)
    }

    var count: Int { onsets.count }
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
        clipped += new.count { $0.isClipped }
        onsets += new.prefix(max(0, most - onsets.count))
        guard let read = bytes?.take(samples), let failures = bytes?.failures else { return }
        if failures > Self.mostFailures { bytes = nil }
        for byte in read where ticks.count < most {
            switch byte.value {
            case Self.start, Self.continue: isFirst = true
            case Self.tick:
                ticks.append(byte.time)
                if isFirst { firstTicks.append(byte.time) }
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
