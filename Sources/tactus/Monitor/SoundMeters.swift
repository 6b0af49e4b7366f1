import BeatTime
import ClockMeter
import Glibc

/// The meters for one or two channels of a recording or a sound card.
struct SoundMeters: Sendable {
    let kind: SoundKind
    let sampleRate: Int
    /// Channels, counted from 1: the measured one, and the one to compare it with.
    let channels: [Int]
    private var meters: [any ChannelMeter]
    /// The largest absolute sample of the measured channel; 1 is full scale.
    private var peak = Float(0)
    /// Whether there are two channels and they have been equal so far.
    private var areAlike: Bool
    /// Number of samples of each channel so far.
    private(set) var count = 0

    init(_ kind: SoundKind, sampleRate: Int, channels: [Int]) {
        (self.kind, self.sampleRate, self.channels) = (kind, sampleRate, channels)
        meters = channels.map { _ in kind.meter(sampleRate: Double(sampleRate)) }
        areAlike = channels.count == 2
    }

    /// Begins to measure anew, while the sound goes on.
    mutating func beginAnew() {
        for index in meters.indices { meters[index].beginAnew() }
        (peak, areAlike, count) = (0, channels.count == 2, 0)
    }

    /// Adds samples of each channel.
    mutating func take(_ samples: [[Float]]) {
        count += samples[0].count
        peak = samples[0].reduce(peak) { max($0, $1.isFinite ? abs($1) : 0) }
        areAlike = areAlike && samples[0] == samples[1]
        for index in meters.indices { meters[index].take(samples[index]) }
    }

    /// Tells the meters that samples were lost.
    mutating func lost() { for index in meters.indices { meters[index].lost() } }

    /// Tells the meters that the sound has ended.
    mutating func finish() { for index in meters.indices { meters[index].finish() } }

    /// Checks that two channels to compare differ; a card may copy its only microphone to both.
    ///
    /// - Parameter name: of the recording or the sound card.
    /// - Throws: if both channels are the same.
    func requireTwoSounds(of name: String) throws(Failure) {
        guard areAlike, peak > 0 else { return }
        throw Failure(
            .unavailable,
            "channels \(channels[0]) and \(channels[1]) of \(name) are exactly the same sound, so there is nothing to "
                + "compare; connect the other machine to an input of its own")
    }

    func figures(nominal: Tempo?) -> ClockFigures { meters[0].figures(nominal: nominal) }

    /// Facts about the sound besides the clock's figures.
    var sound: SoundFigures {
        let against = channels.dropFirst().first.map { other in
            SoundFigures.Against(
                channel: other, difference: ClockDifference(meters[0].times, against: meters[1].times))
        }
        return SoundFigures(
            kind: kind, channel: channels[0], sampleRate: sampleRate,
            peakDecibels: peak > 0 ? 20 * log10(Double(peak)) : nil, clipped: meters[0].clipped,
            unreadable: meters[0].unreadable, against: against)
    }
}
