public import Arbiter
public import BeatTime
public import Logging

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
    /// Network interfaces Link may use besides loopback, by name; empty means all.
    public var interfaces: [String] = []
    /// SCHED_FIFO priority of the output thread, 0 to 99; 0 does not ask for it.
    public var realtimePriority = 80

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

/// A command from outside: terminal, HTTP, a foot switch.
public enum Command: Hashable, Sendable {
    case enableLink(Bool)
    case enableStartStopSync(Bool)
    /// Play or stop, quantised.
    case setPlaying(Bool)
    /// 20 to 999 beats per minute; what is outside is for the caller to refuse.
    case setTempo(Tempo)
}

/// Why a command is not carried out.
public enum CommandRefusal: Error, Hashable, Sendable {
    /// The leader's role excludes it; names the leader.
    case notLeader(String)
    /// Too many commands are waiting.
    case busy
}

/// The running gateway: its threads, its sequencer clients, its Link peer. Any thread may call it.
public final class Gateway: Sendable {
    /// Starts the gateway.
    ///
    /// A missing sequencer, a refused real-time priority or an output that is not there yet are no errors: they show
    /// in the status, with their fix.
    public init(_ configuration: GatewayConfiguration, log: Logger) throws {}

    /// The present state of everything.
    public func status() -> Status { preconditionFailure("not built yet") }

    /// Carries out a command; returns once ``status()`` shows it.
    public func perform(_ command: Command) async throws(CommandRefusal) {}

    /// Stops the outputs, says bye-bye to the peers and ends all threads; returns when that has happened.
    public func stop() async {}
}
