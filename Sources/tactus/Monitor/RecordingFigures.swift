import ClockMeter

/// What is known of a recording besides the figures of its clock; the names are those of the JSON that programs read.
struct RecordingFigures: Encodable {
    var kind: SoundKind
    /// Counted from 1.
    var channel: Int
    var sampleRate: Int
    /// The largest sample in decibels of full scale; absent if all are zero.
    var peakDecibels: Double?
    /// How many sounds clip, or 1 for a MIDI line that does.
    var clipped: Int
    /// How often a MIDI line left its rest for something that is no byte.
    var unreadable: Int
    /// The channel that it is compared with.
    var against: Against?

    private enum CodingKeys: String, CodingKey {
        case kind = "as"
        case channel, sampleRate, peakDecibels, clipped, unreadable, against
    }

    struct Against: Encodable {
        var channel: Int
        /// Absent if nothing on one channel belongs to anything on the other.
        var difference: ClockDifference?
    }
}
