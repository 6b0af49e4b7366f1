package import BeatTime
package import MIDIClock
internal import OnsetDetection

private import func Glibc.log10

/// Measures how late a machine sounds: takes what a sound card hears and what clock was sent, and says what to do next.
///
/// A value in virtual time: it reads no clock and does nothing itself. Whoever runs it moves the clock by ``shift`` and
/// asks for the ``outcome``.
///
///     var calibration = SoundCalibration(sampleRate: 48_000, offset: 0)
///     calibration.sent(.start, at: start)
///     calibration.take(block)
///     if let outcome = calibration.outcome { … }
package struct SoundCalibration: Sendable {
    /// By how much the clock is moved, in microseconds, or by this share of a tick if that is less: it then glides.
    private static let largestShift = (microseconds: 7_000.0, ofTick: 0.4)
    /// Sounds and ticks that are kept of each channel.
    private static let most = 20_000
    /// How long after its beat a hit may be known, in beats.
    private static let lookback = 0.75

    private let sampleRate: Double
    private let offset: Double
    private let inputLatency: Double
    private var beats = SentBeats()
    /// By how much the clock is moved, in microseconds; fixed before it is moved, since a clock that glides has longer or
    /// shorter ticks.
    private var size = 0.0
    private var clock: SampleClock
    private var samples = 0
    private var own: HeardChannel
    private var other: HeardChannel?
    /// Beats at which it is judged next.
    private var nextLook = SoundJudgement.firstLook
    /// How it ended; nil while it goes on.
    package private(set) var outcome: Result<SoundResult, SoundDoubt>?

    /// A calibration that has heard nothing.
    ///
    /// - Parameters:
    ///   - sampleRate: samples a second.
    ///   - offset: the output's, in microseconds.
    ///   - inputLatency: what the sound card adds, in microseconds.
    ///   - isCompared: whether there is a second channel to compare with.
    package init(sampleRate: Double, offset: Double, inputLatency: Double = 0, isCompared: Bool = false) {
        self.sampleRate = sampleRate
        self.offset = offset
        self.inputLatency = inputLatency
        clock = SampleClock(sampleRate: sampleRate)
        own = HeardChannel(sampleRate: sampleRate, most: Self.most)
        other = isCompared ? HeardChannel(sampleRate: sampleRate, most: Self.most, readsMIDI: true) : nil
    }

    /// By how much the clock should leave later now than at first, in microseconds.
    package var shift: Double {
        let moved = beats.times.count - SoundJudgement.measuredBeats
        guard outcome == nil, moved > 0 else { return 0 }
        return (moved - 1) / SoundJudgement.shiftedBeats % 2 == 0 ? size : 0
    }

    /// Takes in what the output sent.
    package mutating func sent(_ message: ClockMessage, at time: HostTime) {
        guard outcome == nil else { return }
        beats.take(message, at: Double(time.microseconds))
        if beats.times.count <= SoundJudgement.measuredBeats {
            size = min(Self.largestShift.microseconds, (Self.largestShift.ofTick * beats.tickLength).rounded(.down))
        }
        if beats.isInterrupted {
            outcome = .failure(.interrupted)
        } else if beats.times.count > SoundJudgement.mostBeats + 2 * SoundJudgement.shiftedBeats {
            // There would be an outcome by now if it were known when the sounds came.
            outcome = .failure(.noStamps)
        }
    }

    /// Takes in that ticks or sound were lost on this machine.
    package mutating func lost() {
        guard outcome == nil else { return }
        guard beats.times.isEmpty else { return outcome = .failure(.lost) }
        // Samples before the gap do not say when those after it were taken.
        clock = SampleClock(sampleRate: sampleRate)
        own.forget()
        other?.forget()
    }

    /// Takes in sound.
    package mutating func take(_ block: SoundBlock) {
        guard outcome == nil else { return }
        samples += block.channels.first?.count ?? 0
        if let stamp = block.stamp { clock.add(samples: stamp.samples, at: stamp.microseconds) }
        if let first = block.channels.first { own.take(first) }
        if block.channels.count > 1 { other?.take(block.channels[1]) }
        let complete = completeBeats
        guard complete >= nextLook else { return }
        nextLook += SoundJudgement.shiftedBeats
        outcome = judgement(of: complete).outcome
    }

    /// How many beats were sent so long ago that their hits are known.
    private var completeBeats: Int {
        guard beats.times.count > 1, let now = clock.time(ofSample: Double(samples)) else { return 0 }
        let end = now - Self.lookback * beats.tickLength * 24
        return beats.times.lastIndex { $0 <= end }.map { $0 + 1 } ?? 0
    }

    private func judgement(of complete: Int) -> SoundJudgement {
        let beats = Array(self.beats.times.prefix(complete))
        var judgement = SoundJudgement(hits: own.hits(clock), beats: beats, shift: size)
        judgement.other = other?.compared(clock, beats, firstTick: self.beats.firstTick)
        (judgement.inputLatency, judgement.offset) = (inputLatency, offset)
        (judgement.clockError, judgement.decibels) = (clock.error, own.decibels)
        return judgement
    }

    /// How far it has come.
    package var progress: Progress {
        let newest = beats.times.suffix(2)
        var delay: Double?
        if newest.count == 2, let hit = own.hits(clock).last {
            delay = newest.map { hit.time - $0 - inputLatency }.min { abs($0) < abs($1) }
        }
        let step: Progress.Step =
            beats.times.isEmpty ? .waiting : beats.times.count <= SoundJudgement.measuredBeats ? .measuring : .checking
        return Progress(
            step: step, beats: beats.times.count,
            needed: SoundJudgement.leastBeats, hits: own.count,
            decibels: own.recentDecibels, otherDecibels: other?.recentDecibels, clipped: own.clipped,
            newestDelay: delay)
    }

    /// How far a calibration has come.
    package struct Progress: Hashable, Sendable {
        package enum Step: Hashable, Sendable {
            /// The clock has not started.
            case waiting
            /// The clock is left alone.
            case measuring
            /// The clock is moved to and fro.
            case checking
        }

        package var step: Step
        package var beats: Int
        /// Beats that will do if the machine keeps time well.
        package var needed: Int
        package var hits: Int
        /// The loudest sample of late, in decibels of full scale; nil for silence.
        package var decibels: Double?
        package var otherDecibels: Double?
        package var clipped: Int
        /// Microseconds from a beat to the newest hit.
        package var newestDelay: Double?
    }
}

/// A piece of sound, and how its samples relate to this machine's clock.
package struct SoundBlock: Sendable {
    /// The samples of each channel listened to, the machine's first; full scale is 1.
    package var channels: [[Float]]
    /// How many samples there were at some time, in microseconds, since the first of the stream.
    package var stamp: Stamp?

    package struct Stamp: Hashable, Sendable {
        package var samples: Int
        package var microseconds: Double

        package init(samples: Int, microseconds: Double) {
            self.samples = samples
            self.microseconds = microseconds
        }
    }

    package init(channels: [[Float]], stamp: Stamp?) {
        self.channels = channels
        self.stamp = stamp
    }
}

/// What is heard on one channel.
private struct HeardChannel: Sendable {
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

    /// Forgets the sounds and ticks that were heard.
    mutating func forget() { (onsets, ticks, firstTicks, isFirst) = ([], [], [], false) }

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

    func hits(_ clock: SampleClock) -> [Hit] {
        onsets.compactMap { onset in
            guard let time = clock.time(ofSample: onset.time) else { return nil }
            return Hit(time: time, error: onset.error / sampleRate * 1_000_000, isClipped: onset.isClipped)
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
        var index = 0
        let nearest: [Hit] = beats.map { $0 + lead }.compactMap { beat in
            while index + 1 < times.count, abs(times[index + 1] - beat) < abs(times[index] - beat) { index += 1 }
            guard index < times.count, abs(times[index] - beat) < reach else { return nil }
            return Hit(time: times[index], error: 10)
        }
        return .cable(nearest)
    }
}
