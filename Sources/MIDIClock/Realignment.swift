/// When to stop a playing device and place it again, on request.
///
/// ```swift
/// var planner = TickPlanner()
/// planner.realign(.atBar)  // Without effect: nothing plays yet.
/// assert(!planner.mayPlay)
/// ```
public enum Realignment: Hashable, Sendable, BitwiseCopyable {
    /// At the next bar.
    case atBar
    /// At the next sixteenth that can be reached; at the next bar for a device without song position.
    case now
}
