package import BeatTime
package import GatewayStatus
package import MIDIClock

/// Who leads, and the position in the song, as one value for display.
package struct Leadership: Sendable {
    package let mode: Mode
    /// Why this mode, in a few words.
    package let reason: String
    package let follower: Status.Follower
    /// The leader's beats.
    package let timeline: HostTimeline
    /// Where ticks fall.
    package let line: TickLine
    package let transport: PlannedTransport
    package let quantum: Beats
}

extension Arbiter {
    /// Who leads now.
    package var leadership: Leadership {
        Leadership(
            mode: mode, reason: reason, follower: followerStatus, timeline: timeline, line: line, transport: transport,
            quantum: quantum)
    }
}
