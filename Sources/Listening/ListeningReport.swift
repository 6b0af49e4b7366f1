internal import SoundCalibration

/// The state of a calibration by listening.
///
/// The property names are JSON keys that programs and the panel read.
package struct ListeningReport: Codable, Hashable, Sendable {
    package enum State: String, Codable, Sendable {
        /// The sound card is being opened.
        case opening
        /// The sound card is open and the level is shown; the clock is left as it is.
        case level
        /// Waiting for the first beat.
        case waiting
        /// The delay is measured, and the clock is not moved.
        case measuring
        /// The clock is moved back and forth, to see whether the sound follows.
        case checking
        /// The clock and the transport are being put back.
        case restoring
        /// There is a result.
        case done
        /// There is none; ``ListeningReport/problem`` says why.
        case failed

        package var isLast: Bool { self == .done || self == .failed }
    }

    /// How loud one channel is.
    package struct Level: Codable, Hashable, Sendable {
        /// The recent peak, in decibels of full scale; nil for silence.
        package var decibels: Double?
        /// Number of sounds in the last two seconds that clip.
        package var clipped: Int
    }

    /// What has been saved.
    package struct Saved: Codable, Hashable, Sendable {
        /// The offset that the output now has.
        package var offsetMilliseconds: Double
        /// The path of the profile that was written; nil if none was.
        package var profile: String?
        /// Why no profile was written; nil if one was.
        package var problem: String?

        package init(offsetMilliseconds: Double, profile: String? = nil, problem: String? = nil) {
            (self.offsetMilliseconds, self.profile, self.problem) = (offsetMilliseconds, profile, problem)
        }
    }

    package var id: String
    /// The ID and the name of the output.
    package var output, name: String
    package var device: String
    package var channel: Int
    package var against: Int?
    /// The delay that the sound card adds; nil if it was not given.
    package var inputLatencyMilliseconds: Double?
    package var state: State
    package var level: Level?
    /// The level of the second channel; nil if there is none.
    package var otherLevel: Level?
    /// Number of beats sent.
    package var beats = 0
    /// Number of beats that are enough if the machine's timing is even.
    package var beatsNeeded = SoundJudgement.leastBeats
    /// Number of sounds heard.
    package var hits = 0
    /// From the nearest beat to the newest hit; positive if it is late.
    package var newestDelayMicroseconds: Double?
    package var result: ListeningFigures?
    package var problem: ListeningProblem?
    package var saved: Saved?

    package init(id: String, name: String, _ request: ListeningRequest, state: State) {
        (self.id, output, self.name, device) = (id, request.output, name, request.device)
        (channel, against, inputLatencyMilliseconds) = (request.channel, request.against, request.inputLatency)
        self.state = state
    }

    /// Updates the levels and counts.
    mutating func take(_ progress: SoundCalibration.Progress) {
        level = Level(decibels: progress.decibels, clipped: progress.clipped)
        if against != nil { otherLevel = Level(decibels: progress.otherDecibels, clipped: progress.otherClipped) }
        (beats, hits) = (progress.beats, progress.hits)
        newestDelayMicroseconds = progress.newestDelay
    }
}
