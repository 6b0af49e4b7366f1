public import BeatTime

/// What the user wants of a run of the gateway.
public struct GatewayConfiguration: Sendable {
    /// Initial tempo, 20 to 999 beats per minute.
    public var tempo = Tempo(beatsPerMinute: 120)
    /// Shared quantum in beats, 0 to 64.
    public var quantum = Beats(4)
    /// The Link switch.
    public var isLinkEnabled = true
    public var isStartStopSyncEnabled = false
    /// Start playing once ready.
    public var playsAtStart = false
    public var outputs: [OutputAddress] = []
    /// Whether to create the general sequencer port `Clock`.
    public var hasClockPort = true
    /// Whose clock to follow when Link is off.
    public var follow = FollowChoice.auto
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

/// Where an output's bytes go, as `--output` names it.
public enum OutputAddress: Hashable, Sendable {
    /// A sequencer port by name or a unique part of it; case and surrounding spaces do not count.
    case name(String)
    /// A sequencer port by number.
    case numeric(client: Int, port: Int)
    /// A sequencer port of our own that others subscribe to.
    case virtual(String)
    /// A device node, FIFO or serial line; the rate matters to serial lines only.
    case raw(path: String, bitsPerSecond: Int)
}
