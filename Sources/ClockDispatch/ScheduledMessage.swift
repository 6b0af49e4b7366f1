internal import BeatTime
internal import MIDIClock

/// A message that is being sent, or put into the queue.
struct ScheduledMessage: BitwiseCopyable {
    var slot: Int
    var sink: Sink
    var message: StreamMessage
    /// The message as its stream gave it; nil for a final Stop.
    var planned: StreamEvent?
    /// When the queue sends it, in nanoseconds of queue time.
    var queueTime: Int64 = 0
    /// Whether a receiver refused it.
    var wasRefused = false

    /// The sequencer port to send it from; nil if it goes to a line or nowhere.
    var port: UInt8? {
        if case .port(let port) = sink { port } else { nil }
    }
}

/// What holds for all outputs.
struct SharedPlan: BitwiseCopyable {
    /// Where ticks fall.
    var map: TempoMap
    var transport: PlannedTransport
    /// When the song begins or has begun; meaningless while it is stopped.
    var songBegin = HostTime(microseconds: 0)
    /// The number of outputs.
    var outputs: Int
}
