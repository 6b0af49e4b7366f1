package import BeatTime
package import ClockDispatch
package import ConfigurationFiles
package import GatewayStatus
package import MIDIClock

/// What the user wants of a run of the gateway.
package struct GatewayConfiguration: Sendable {
    /// Initial tempo, 20 to 999 beats per minute.
    package var tempo = Tempo(beatsPerMinute: 120)
    /// The Link switch.
    package var isLinkEnabled = true
    package var isStartStopSyncEnabled = false
    /// Start playing once ready.
    package var playsAtStart = false
    /// The part that a reload may change.
    package var live = LiveConfiguration()
    /// Replaces the quantum of ``live`` until one is set or configured.
    package var quantum: Beats?
    /// Replaces whom ``live`` follows, until that is set or configured.
    package var follow: FollowChoice?
    /// A raw MIDI device to read a clock from, as libasound names it, `hw:CARD,DEVICE`.
    package var clockInDevice: String?
    /// Network interfaces Link may use besides loopback, by name; empty means all.
    package var interfaces: [String] = []
    /// SCHED_FIFO priority of the output thread, 0 to 99; 0 does not ask for it.
    package var realtimePriority = 80
    /// How ticks leave.
    package var dispatch = DispatchChoice.auto

    package init() {}
}

/// What the user wants, as far as it can change while the gateway runs.
package struct LiveConfiguration: Hashable, Sendable {
    package var outputs = OutputConfiguration()
    /// Shared quantum in beats, 0 to 64.
    package var quantum = Beats(4)
    /// The tempos of the session that outputs go along with; nil for all.
    package var fence: TempoFence?
    /// Whether Link leaves the network while there is nothing to drive.
    package var deactivatesWhenIdle = false
    /// Whose clock to follow when Link is off.
    package var follow = FollowChoice.auto
    /// Whether the song stops when the clock that leads falls silent; else it goes on.
    package var stopsWhenLost = false
    /// Buttons and pedals that give commands.
    package var controls: [Control] = []
    /// What the user should know of how all this was read.
    package var warnings: [Status.Warning] = []

    package init() {}
}
