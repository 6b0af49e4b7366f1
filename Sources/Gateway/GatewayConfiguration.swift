public import Arbiter
public import BeatTime
public import DeviceProfiles

/// What the user wants of a run of the gateway.
public struct GatewayConfiguration: Sendable {
    /// Initial tempo, 20 to 999 beats per minute.
    public var tempo = Tempo(beatsPerMinute: 120)
    /// The Link switch.
    public var isLinkEnabled = true
    public var isStartStopSyncEnabled = false
    /// Start playing once ready.
    public var playsAtStart = false
    /// What may be wished otherwise while it runs.
    public var wishes = Wishes()
    /// What counts instead of the wishes' until it is set or configured otherwise.
    public var quantum: Beats?
    /// Likewise.
    public var follow: FollowChoice?
    /// A raw MIDI device to read a clock from, as libasound names it, `hw:CARD,DEVICE`.
    public var clockInDevice: String?
    /// Network interfaces Link may use besides loopback, by name; empty means all.
    public var interfaces: [String] = []
    /// SCHED_FIFO priority of the output thread, 0 to 99; 0 does not ask for it.
    public var realtimePriority = 80
    /// How ticks leave.
    public var dispatch = DispatchChoice.auto

    public init() {}
}

/// What the user wants, and may want otherwise while the gateway runs.
public struct Wishes: Hashable, Sendable {
    public var outputs = OutputWishes()
    /// Shared quantum in beats, 0 to 64.
    public var quantum = Beats(4)
    /// Whether Link leaves the network while there is nothing to drive.
    public var deactivatesWhenIdle = false
    /// Whose clock to follow when Link is off.
    public var follow = FollowChoice.auto
    /// Whether the song stops when the clock that leads falls silent; else it goes on.
    public var stopsWhenLost = false
    /// Buttons and pedals that give commands.
    public var controls: [Control] = []
    /// What the user should know of how all this was read.
    public var warnings: [Status.Warning] = []

    public init() {}
}
