import ClockMeter

/// Facts about a recording besides its clock's figures; the names are those of the JSON output.
struct RecordingFigures: Encodable {
    var kind: SoundKind
    /// Counted from 1.
    var channel: Int
    var sampleRate: Int
    /// The largest sample in decibels of full scale; absent if all are zero.
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
        /// Absent if no sounds of the two channels belong together.
        var difference: ClockDifference?
    }
}
