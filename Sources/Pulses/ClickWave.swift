internal import Glibc

/// A click as samples: a tone that fades within hundredths of a second.
///
/// It begins between two samples if need be: its first sample is then a little way into the wave.
struct ClickWave: Sendable {
    /// The tone turns and shrinks with each sample; its height is what is heard.
    private var (height, width): (Float, Float) = (0, 0)
    private var turn: (height: Float, width: Float) = (0, 0)
    /// The next sample.
    private var frame = 0

    /// Time in which it fades to a third, in seconds.
    private static let fading: Float = 0.008
    /// Below this share of full scale it is over.
    private static let least: Float = 0.000_1

    /// Begins, in place of one that has not faded yet.
    ///
    /// - Parameters:
    ///   - click: decides on the pitch.
    ///   - level: of its beginning, as a share of full scale.
    ///   - place: where, in frames; it is in or after the block that is written next.
    ///   - sampleRate: the card's, in Hz.
    mutating func begin(_ click: Click, _ level: Float, at place: Double, sampleRate: Double) {
        let angle = 2 * Float.pi * click.pitch / Float(sampleRate)
        let shrinking = -1 / (Self.fading * Float(sampleRate))
        frame = Int(place.rounded(.up))
        let late = Float(Double(frame) - place)
        let size = level * exp(shrinking * late)
        (height, width) = (size * sin(angle * late), size * cos(angle * late))
        turn = (exp(shrinking) * sin(angle), exp(shrinking) * cos(angle))
    }

    /// Ends it at once.
    mutating func end() { (height, width) = (0, 0) }

    /// Adds what falls into a block to a channel.
    mutating func write(on channel: Int, of block: inout SampleBlock) {
        while frame < block.frames.upperBound, abs(height) + abs(width) > Self.least {
            block[channel, frame] += height
            (height, width) = (height * turn.width + width * turn.height, width * turn.width - height * turn.height)
            frame += 1
        }
    }
}
