/// How late a machine sounds, and the offset that corrects it.
package struct SoundResult: Hashable, Sendable {
    /// Microseconds from the beat, or from the other channel's sound, to the machine's; positive if it is late.
    package var delay: Double
    /// Possible error of ``delay``, in microseconds: two standard errors, plus the error from a slow rise of the sound.
    package var uncertainty: Double
    /// Standard deviation of the machine's own timing, in microseconds.
    package var spread: Double
    /// How much the delay grows, in microseconds per minute.
    package var drift: Double
    /// Number of hits that the delay was computed from.
    package var used: Int
    /// Number of beats without a hit, of outliers, and of sounds that belong to no beat.
    package var rejected: Int
    /// How far the sound moved for each microsecond that the clock was moved; 1 if it follows exactly.
    package var response: Double
    /// The offset that the output must have, in microseconds.
    package var offset: Double
    /// What the delay is measured against.
    package var reference: Reference
    /// The hits that the delay was computed from.
    package var hits: [Delay]

    /// What a delay is measured against.
    package enum Reference: String, Hashable, Sendable, Codable {
        /// The time at which this machine sent the beat.
        case beat
        /// Another machine, on a second channel.
        case machine
        /// The output's own clock, read from a MIDI cable on a second channel.
        case ownClock
    }

    /// The delay of one hit.
    package struct Delay: Codable, Hashable, Sendable {
        /// The number of the beat, from 0.
        package var beat: Int
        package var microseconds: Double

        package init(beat: Int, microseconds: Double) { (self.beat, self.microseconds) = (beat, microseconds) }
    }

    package init(
        delay: Double, uncertainty: Double, spread: Double, drift: Double, used: Int, rejected: Int, response: Double,
        offset: Double, reference: Reference, hits: [Delay]
    ) {
        self.delay = delay
        self.uncertainty = uncertainty
        self.spread = spread
        self.drift = drift
        self.used = used
        self.rejected = rejected
        self.response = response
        self.offset = offset
        self.reference = reference
        self.hits = hits
    }
}

/// Why the delay of a machine's sound cannot be measured.
package enum MeasurementFailure: Error, Hashable, Sendable {
    /// There are too few sounds.
    ///
    /// The loudest sample is given in decibels of full scale, so at most about 0; nil for silence.
    case noHits(heard: Int, beats: Int, decibels: Double?)
    /// More than half of the hits clip.
    case clipping
    /// There are too many sounds for each beat.
    case several(perBeat: Double)
    /// Too few of the beats have a sound at the same place.
    case uneven(matched: Int, beats: Int)
    /// The sounds were regular at first, and ended after a number of beats.
    case fellSilent(after: Int, beats: Int)
    /// The sounds are too far from the beat for a delay; the interval is that between beats, in microseconds.
    case wrongBeat(microseconds: Double, interval: Double)
    /// The sounds follow the clock, but about a beat too late or too early.
    case wholeBeat
    /// The sounds move away from the beat, by this many microseconds per minute.
    case drift(perMinute: Double)
    /// The sounds do not follow the clock.
    ///
    /// For each microsecond that the clock is moved, they move by this many, where about 1 is expected.
    case doesNotFollow(response: Double)
    /// The clock did not move, although the output was told to move it.
    case clockUnmoved
    /// The tempo changed during the calibration.
    case tempoChanged
    /// The spread of the sounds, in microseconds, is too large to tell whether they follow the clock.
    case scattered(spread: Double)
    /// Too few of the beats have a sound on the second channel.
    case noReference(matched: Int, beats: Int)
    /// The machine is on the beat, but the sounds on the second channel are not.
    case strangeReference
    /// The second channel is a MIDI cable on which no Start was heard.
    case noStart
    /// The sounds on the second channel follow the clock only in part.
    ///
    /// For each microsecond that the clock is moved, another machine moves by 0, and the clock's own cable by 1.
    case unclearReference(response: Double)
    /// The second channel is a machine on the same clock, so one offset would move both.
    case sameClock
    /// The clock was stopped, or started again.
    case interrupted
    /// This computer lost sound or ticks.
    case lost
    /// The sound card's driver does not report when samples were taken.
    case noStamps
}
