/// How late a machine sounds, and what puts it right.
package struct SoundResult: Hashable, Sendable {
    /// Microseconds from the beat, or from the other channel's sound, to the machine's; positive if it is late.
    package var delay: Double
    /// What ``delay`` may be off by, in microseconds: two standard errors, and what the sound's slow rise adds.
    package var uncertainty: Double
    /// Standard deviation of the machine's own timing, in microseconds.
    package var spread: Double
    /// By how much it grows later, in microseconds a minute.
    package var drift: Double
    /// Hits that were measured.
    package var used: Int
    /// Beats without a hit, hits that stray, and sounds that belong to no beat.
    package var rejected: Int
    /// By how much the sound moved when the clock was moved by 1.
    package var response: Double
    /// The offset that the output must have, in microseconds.
    package var offset: Double
    /// What the delay is measured against.
    package var reference: Reference
    /// Each hit that was measured.
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
        /// The number of the beat.
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

/// Why nothing can be told of a machine's sound.
package enum SoundDoubt: Error, Hashable, Sendable {
    /// There is none, or next to none; the loudest sample was so many decibels below full scale, nil for silence.
    case noHits(heard: Int, beats: Int, decibels: Double?)
    /// More than half of the hits clip.
    case clipping
    /// So many sounds for each beat.
    case several(perBeat: Double)
    /// Sounds that keep to no beat: so many of the beats have one where most are.
    case uneven(matched: Int, beats: Int)
    /// They kept to the beat at first, and there is none after so many beats.
    case fellSilent(after: Int, beats: Int)
    /// They are so many microseconds from the beat, out of so many between beats: too far to be a delay.
    case wrongBeat(microseconds: Double, interval: Double)
    /// They answer to the clock about a beat late, or early.
    case wholeBeat
    /// They move away by so many microseconds a minute.
    case drift(perMinute: Double)
    /// They do not move with the clock: by this much if it moves by 1.
    case doesNotFollow(response: Double)
    /// The clock did not move as it was told to.
    case clockUnmoved
    /// The tempo did not stay.
    case tempoChanged
    /// Their spread, in microseconds, is too large to tell whether they follow the clock.
    case scattered(spread: Double)
    /// The second channel has no hit on each beat.
    case noReference(matched: Int, beats: Int)
    /// The second channel keeps to another beat than the clock and the first.
    case strangeReference
    /// The second channel is a MIDI cable on which no Start was heard.
    case noStart
    /// The second channel moves by this much if the clock moves by 1; a machine's would by 0, the clock's own by 1.
    case unclearReference(response: Double)
    /// The second channel hears a machine that follows the very clock that is moved.
    case sameClock
    /// The clock stopped, or was started anew.
    case interrupted
    /// This machine lost sound or ticks.
    case lost
    /// The sound card's driver does not say when samples were taken.
    case noStamps
}
