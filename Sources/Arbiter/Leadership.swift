public import BeatTime
public import MIDIClock

/// Who leads and where the music is, as one picture for display.
public struct Leadership: Sendable {
    public let mode: Mode
    /// Why this mode, in a few words.
    public let reason: String
    public let follower: Status.Follower
    /// The leader's beats.
    public let timeline: HostTimeline
    /// Where ticks fall.
    public let line: TickLine
    public let transport: PlannedTransport
    public let quantum: Beats
}

extension Arbiter {
    /// The present state of affairs.
    public var leadership: Leadership {
        Leadership(
            mode: mode, reason: reason, follower: followerStatus, timeline: timeline, line: line, transport: transport,
            quantum: quantum)
    }
}
