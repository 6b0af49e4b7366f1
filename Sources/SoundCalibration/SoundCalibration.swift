package import BeatTime
package import MIDIClock
package import OnsetDetection

/// Measures how late a machine sounds: takes what a sound card hears and what clock was sent, and says what to do next.
///
/// A value in virtual time: it reads no clock and does nothing itself. Whoever runs it moves the clock by ``shift`` and
/// asks for the ``outcome``.
///
///     var calibration = SoundCalibration(sampleRate: 48_000)
///     calibration.begin(offset: 0)
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
    private var offset = 0.0
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
    ///   - inputLatency: what the sound card adds, in microseconds.
    ///   - isCompared: whether there is a second channel to compare with.
    package init(sampleRate: Double, inputLatency: Double = 0, isCompared: Bool = false) {
        self.sampleRate = sampleRate
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

    /// Takes in that the clock is heard from now on; sounds from before are none of the machine's.
    ///
    /// The card's stamps from before count no more either: its crystal may have drifted while the level was set.
    ///
    /// - Parameter offset: the output's, in microseconds.
    package mutating func begin(offset: Double) {
        self.offset = offset
        clock = SampleClock(sampleRate: sampleRate)
        own.forget()
        other?.forget()
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
        if newest.count == 2, let hit = own.newestHit(clock) {
            delay = newest.map { hit.time - $0 - inputLatency }.min { abs($0) < abs($1) }
        }
        let step: Progress.Step =
            beats.times.isEmpty ? .waiting : beats.times.count <= SoundJudgement.measuredBeats ? .measuring : .checking
        return Progress(
            step: step, beats: beats.times.count,
            needed: SoundJudgement.leastBeats, hits: own.count,
            decibels: own.recentDecibels, otherDecibels: other?.recentDecibels, clipped: own.clipped,
            otherClipped: other?.clipped ?? 0, newestDelay: delay)
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
        /// Sounds of the last two seconds that clip.
        package var clipped: Int
        package var otherClipped: Int
        /// Microseconds from a beat to the newest hit.
        package var newestDelay: Double?
    }
}
