import ClockMeter

/// Facts about a recording or a sound card's input, besides the clock's figures.
///
/// The names are those of the JSON output.
struct SoundFigures: Encodable {
    var kind: SoundKind
    /// Counted from 1.
    var channel: Int
    var sampleRate: Int
    /// The measured channel's largest sample, in decibels of full scale; absent if all are zero.
    var peakDecibels: Double?
    /// Number of sounds that clip; for a MIDI line, 1 if it clips.
    var clipped: Int
    /// How often a MIDI line left its resting level without a valid byte.
    var unreadable: Int
    /// The comparison with the other channel.
    var against: Against?

    private enum CodingKeys: String, CodingKey {
        case kind = "as"
        case channel, sampleRate, peakDecibels, clipped, unreadable, against
    }

    struct Against: Encodable {
        var channel: Int
        /// Absent if no sound of one channel matches one of the other.
        ///
        /// Two match if they are less than half an interval apart. A channel with fewer than two sounds has no
        /// interval.
        var difference: ClockDifference?
    }
}
