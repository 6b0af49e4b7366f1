internal import SoundCalibration

/// How a calibration by listening stands; the names are those of the JSON that programs and the panel read.
package struct ListeningReport: Codable, Hashable, Sendable {
    package enum State: String, Codable, Sendable {
        /// The sound card is being opened.
        case opening
        /// The level is shown, and nothing else happens.
        case level
        /// Waiting for the first beat.
        case waiting
        /// Listening with the clock left alone.
        case measuring
        /// The clock is moved to and fro.
        case checking
        /// Offset and transport are being put back.
        case restoring
        /// There is a result.
        case done
        /// There is none; ``ListeningReport/problem`` says why.
        case failed

        package var isLast: Bool { self == .done || self == .failed }
    }

    /// What is heard on one channel.
    package struct Level: Codable, Hashable, Sendable {
        /// The loudest sample of late, in decibels of full scale; nil for silence.
        package var decibels: Double?
        /// Sounds of the last two seconds that clip.
        package var clipped: Int
    }

    /// What has been saved.
    package struct Saved: Codable, Hashable, Sendable {
        /// The offset that the output now has.
        package var offsetMilliseconds: Double
        /// The profile that was written.
        package var profile: String?
        /// Why none was written.
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
    /// What the sound card itself adds, if that was given.
    package var inputLatencyMilliseconds: Double?
    package var state: State
    package var level: Level?
    package var otherLevel: Level?
    package var beats = 0
    /// Beats that will do if the machine keeps time well.
    package var beatsNeeded = SoundJudgement.leastBeats
    package var hits = 0
    /// From a beat to the newest hit; positive is late.
    package var newestDelayMicroseconds: Double?
    package var result: ListeningFigures?
    package var problem: ListeningProblem?
    package var saved: Saved?

    package init(id: String, name: String, _ request: ListeningRequest, state: State) {
        (self.id, output, self.name, device) = (id, request.output, name, request.device)
        (channel, against, inputLatencyMilliseconds) = (request.channel, request.against, request.inputLatency)
        self.state = state
    }

    /// Takes in how far it has come.
    mutating func take(_ progress: SoundCalibration.Progress) {
        level = Level(decibels: progress.decibels, clipped: progress.clipped)
        if against != nil { otherLevel = Level(decibels: progress.otherDecibels, clipped: progress.otherClipped) }
        (beats, hits) = (progress.beats, progress.hits)
        newestDelayMicroseconds = progress.newestDelay
    }
}
