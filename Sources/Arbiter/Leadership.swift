package import BeatTime
package import MIDIClock

/// Who leads, and the position in the song, as one value.
package struct Leadership: Sendable {
    package let mode: Arbiter.Mode
    package let follower: FollowerReport
    /// The leader's beats.
    package let timeline: HostTimeline
    /// Where ticks fall.
    package let line: TickLine
    package let transport: PlannedTransport
    package let quantum: Beats
}

extension Arbiter {
    /// Who leads tempo, beat and transport.
    package enum Mode: Hashable, Sendable {
        /// The Link session, alone or with peers.
        case link
        /// A MIDI clock.
        case follow
        /// The user.
        case `internal`
    }

    /// Who leads now.
    package var leadership: Leadership {
        Leadership(
            mode: mode, follower: follower, timeline: timeline, line: line, transport: transport, quantum: quantum)
    }

    /// The machine that leads; nil unless the mode is `follow`.
    package var leader: ClockSource? { following?.source }

    /// Name of the machine that leads, and so excludes the user's tempo; else nil.
    package var leaderName: String? { following.map { name(of: $0.source) } }

    /// Name of the machine that leads the transport too; nil if the user does.
    ///
    /// A clock without Start, Continue and Stop leaves them to the user, and so does one that has sent none of them for
    /// some bars; otherwise nobody could play.
    package var transportLeaderName: String? {
        following.flatMap { tracked[$0.source]?.controlsTransport == true ? name(of: $0.source) : nil }
    }

    /// The name of a clock, or its port's number if it has none.
    func name(of source: ClockSource) -> String { sourceNames[source] ?? source.description }
}
