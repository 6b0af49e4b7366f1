public import BeatTime

/// A message that an output is to send, and when.
public struct PlannedMessage: Hashable, Sendable, BitwiseCopyable {
    public let message: ClockMessage
    /// When it may leave, and should.
    public let due: HostTime
    /// Microseconds by which ``due`` is later than the timeline says, because news came late, the thread was held up,
    /// or pulses must keep their distance.
    public let belated: Int64
    /// The place on the ticks that it belongs to: a tick's own, or the one that a transport message precedes.
    public let place: TickPlace
    /// The pulse it is, or that it precedes.
    let pulse: Int64
    /// The fold under which pulses are counted so.
    let fold: TempoFold
    /// How the device comes into the song with it.
    let entry: Entry?
}
