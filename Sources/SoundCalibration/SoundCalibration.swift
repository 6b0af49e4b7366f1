package import BeatTime
package import MIDIClock
package import OnsetDetection

/// Measures how late a machine sounds after the beats that it was sent.
///
/// It takes the sound from a sound card, and the clock messages that an output sent. The caller must move the output's
/// clock by ``shift`` whenever that changes, until there is an ``outcome``. A value in virtual time: it reads no clock
/// and sends nothing.
///
///     var calibration = SoundCalibration(sampleRate: 48_000)
///     calibration.begin(offset: 0)
///     calibration.sent(.start, at: start)
///     calibration.take(block)
///     if let outcome = calibration.outcome { … }
package struct SoundCalibration: Sendable {
    /// How far the clock is moved: by 7 ms, or by this share of a tick if that is less.
    ///
    /// An output slews after a move of at most half a tick; a larger one would make it step.
    private static let largestShift = (microseconds: 7_000.0, ofTick: 0.4)
    /// Largest number of sounds, and of ticks, that are kept per channel.
    private static let most = 20_000
    /// Time after a beat within which its hit is found, in beats.
    private static let lookback = 0.75

    private let sampleRate: Double
    /// The output's offset, in microseconds.
    private var offset = 0.0
    /// The delay that the sound card adds, in microseconds.
    private let inputLatency: Double
    private var beats = SentBeats()
    /// How far the clock is moved, in microseconds.
    ///
    /// It is fixed before the first move, because ticks are longer or shorter while an output slews.
    private var size = 0.0
    private var clock: SampleClock
    /// Number of samples heard.
    private var samples = 0
    private var own: HeardChannel
    private var other: HeardChannel?
    /// Number of beats at which the next judgement is made.
    private var nextLook = SoundJudgement.firstLook
    /// The result, or why there is none; nil while the calibration runs.
    package private(set) var outcome: Result<SoundResult, MeasurementFailure>?

    /// Creates a calibration that has heard nothing.
    ///
    /// - Parameters:
    ///   - sampleRate: samples per second.
    ///   - inputLatency: the delay that the sound card adds, in microseconds.
    ///   - isCompared: whether there is a second channel to compare with.
    package init(sampleRate: Double, inputLatency: Double = 0, isCompared: Bool = false) {
        self.sampleRate = sampleRate
        self.inputLatency = inputLatency
        clock = SampleClock(sampleRate: sampleRate)
        own = HeardChannel(sampleRate: sampleRate, most: Self.most)
        other = isCompared ? HeardChannel(sampleRate: sampleRate, most: Self.most, readsMIDI: true) : nil
    }

    /// How much later than at first the clock should be sent now, in microseconds.
    package var shift: Double {
        let moved = beats.times.count - SoundJudgement.measuredBeats
        guard outcome == nil, moved > 0 else { return 0 }
        return (moved - 1) / SoundJudgement.shiftedBeats % 2 == 0 ? size : 0
    }

    /// Starts with the clock, which is received from now on; forgets all earlier sounds.
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

    /// Adds a clock message that the output sent.
    package mutating func sent(_ message: ClockMessage, at time: HostTime) {
        guard outcome == nil else { return }
        beats.take(message, at: Double(time.microseconds))
        if beats.times.count <= SoundJudgement.measuredBeats {
            size = min(Self.largestShift.microseconds, (Self.largestShift.ofTick * beats.tickLength).rounded(.down))
        }
        if beats.isInterrupted {
            outcome = .failure(.interrupted)
        } else if beats.times.count > SoundJudgement.mostBeats + 2 * SoundJudgement.shiftedBeats {
            // If the times of the sounds were known, there would be an outcome by now.
            outcome = .failure(.noStamps)
        }
    }

    /// Notes that this computer lost ticks or sound.
    ///
    /// Before the first beat, everything heard is forgotten; after it, the calibration fails.
    package mutating func lost() {
        guard outcome == nil else { return }
        guard beats.times.isEmpty else { return outcome = .failure(.lost) }
        // Stamps from before the gap do not tell when samples after it were taken.
        clock = SampleClock(sampleRate: sampleRate)
        own.forget()
        other?.forget()
    }

    /// Adds sound, and judges it if enough beats are complete.
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

    /// Number of beats sent long enough ago that their hits have been found.
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

    /// The present progress.
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

    /// The progress of a calibration.
    package struct Progress: Hashable, Sendable {
        package enum Step: Hashable, Sendable {
            /// No beat has been sent yet.
            case waiting
            /// The delay is measured, and the clock is not moved.
            case measuring
            /// The clock is moved back and forth, to see whether the sound follows.
            case checking
        }

        package var step: Step
        /// Number of beats sent.
        package var beats: Int
        /// Number of beats that are enough if the machine's timing is even.
        package var needed: Int
        /// Number of sounds heard.
        package var hits: Int
        /// The recent peak, in decibels of full scale; nil for silence.
        package var decibels: Double?
        /// The recent peak on the second channel, in decibels of full scale; nil for silence, or without that channel.
        package var otherDecibels: Double?
        /// Number of sounds in the last two seconds that clip.
        package var clipped: Int
        /// Number of sounds on the second channel in the last two seconds that clip.
        package var otherClipped: Int
        /// Microseconds from the nearest beat to the newest hit, without the sound card's latency; negative if early.
        package var newestDelay: Double?
    }
}
