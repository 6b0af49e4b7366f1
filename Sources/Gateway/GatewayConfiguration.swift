package import BeatTime
package import ClockDispatch
package import ConfigurationFiles
package import MIDIClock

/// What the user wants of a run of the gateway.
package struct GatewayConfiguration: Sendable {
    /// Initial tempo in BPM, 20...999.
    package var tempo = Tempo(beatsPerMinute: 120)
    /// Whether Link is on.
    package var isLinkEnabled = true
    package var isStartStopSyncEnabled = false
    /// Whether to start playing once ready.
    package var playsAtStart = false
    /// Whether to start playing if the last run ended abruptly while machines played.
    package var resumes = false
    /// What the configuration says of how to start, to be saved with what is changed meanwhile.
    package var written = KeptState.Written()
    /// The part that a reload may change.
    package var live = LiveConfiguration()
    /// Replaces the quantum of ``live`` until one is set or configured.
    package var quantum: Beats?
    /// Replaces the follow choice of ``live`` until one is set or configured.
    package var follow: FollowChoice?
    /// A raw MIDI device to read a clock from, by its ALSA name `hw:CARD,DEVICE`.
    package var clockInDevice: String?
    /// Names of the network interfaces for Link besides loopback; empty means all.
    package var interfaces: [String] = []
    /// SCHED_FIFO priority of the output thread, 1 to 99; 0 for ordinary scheduling.
    package var realtimePriority = 80
    /// How ticks are sent.
    package var dispatch = DispatchChoice.auto

    package init() {}

    /// The settings of a run that continues with what the last one saved.
    package init(_ live: LiveConfiguration, kept: KeptState) {
        self.live = live
        tempo = kept.tempo.map(Tempo.init(beatsPerMinute:)) ?? tempo
        isLinkEnabled = kept.link ?? isLinkEnabled
        isStartStopSyncEnabled = kept.startStopSync ?? isStartStopSyncEnabled
        quantum = kept.quantum?.value(over: live.quantum.value).map { Beats($0) }
        follow = kept.follow?.value(over: live.follow.text).flatMap { try? FollowChoice($0) }
    }
}

/// The configuration that can change while the gateway runs.
package struct LiveConfiguration: Hashable, Sendable {
    package var outputs = OutputConfiguration()
    /// Shared quantum in beats, 0 to 64.
    package var quantum = Beats(4)
    /// The session tempos that outputs follow; nil for all.
    package var fence: TempoFence?
    /// Whether Link leaves the network while there is nothing to drive.
    package var deactivatesWhenIdle = false
    /// Whose clock to follow when Link is off.
    package var follow = FollowChoice.auto
    /// Whether the song stops when the leading clock falls silent; otherwise it continues.
    package var stopsWhenLost = false
    /// The leader's audio period; nil for that of its profile, if any.
    package var leaderPeriod: AudioPeriod?
    /// Buttons and pedals that give commands.
    package var controls: [Control] = []
    /// What the user should know of the configuration.
    package var notices: [Notice] = []

    package init() {}
}
