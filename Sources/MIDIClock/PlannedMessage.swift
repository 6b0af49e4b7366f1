public import BeatTime

/// A message for an output to send, and when.
///
/// ```swift
/// let line = TickLine(microsecondsPerBeat: 500_000, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)
/// let map = TempoMap(line)
/// var planner = TickPlanner()
/// let plan = OutputPlan(transport: .stopped, settings: OutputSettings())
/// let next = planner.next(plan, on: map, at: HostTime(microseconds: 1_000))
/// assert(next?.message == .timingClock)
/// assert(next?.due == HostTime(microseconds: 20_834))
/// ```
public struct PlannedMessage: Hashable, Sendable, BitwiseCopyable {
    public let message: ClockMessage
    /// When to send it, not earlier.
    public let due: HostTime
    /// Microseconds by which ``due`` is later than the timeline says.
    ///
    /// That happens after a late change, when the thread was held up, or when pulses must keep their distance.
    /// The delay of a pulse that a step of the grid has put just behind does not count.
    public let belated: Int64
    /// Its place on the ticks: a tick's own, or the one that a transport message precedes.
    public let place: TickPlace
    /// Whether it is one of the messages by which its device enters a song.
    package var isPartOfStart: Bool { startPlan != nil }
    /// The pulse that it is, or that it precedes, counted from the beginning of the song.
    package let pulse: Int64
    /// The start plan that it is part of.
    let startPlan: StartPlan?
}
