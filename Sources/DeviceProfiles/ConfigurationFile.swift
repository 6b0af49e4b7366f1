public import BeatTime
public import MIDIClock

/// What a configuration file says; what it does not say is nil or empty, and stays as the command line or default has it.
///
/// Names of ports, addresses and other words with a grammar of their own are kept as text with their place, so that
/// whoever reads that grammar can say where it was broken.
public struct ConfigurationFile: Hashable, Sendable {
    public var outputs: [Output] = []
    /// Whether devices that a profile recognises are connected, too: `auto-connect`.
    public var connectsRecognised: Bool?
    public var follow = Follow()
    public var link = Link()
    /// Tempos of the session outside of it are folded into it.
    public var tempoRange: TempoRange?
    public var http = HTTP()
    public var osc = OSC()
    public var controls: [Control] = []
    public var log = Log()

    /// A file that says nothing.
    public init() {}

    /// One output.
    public struct Output: Hashable, Sendable {
        /// As `--output` takes it, without a profile.
        public var port: Placed<String>
        /// The ID of a profile; nil takes the one that recognises the port.
        public var profile: Placed<String>?
        public var overrides = ProfileOverrides()
    }

    /// Whose clock to follow when Link is off.
    public struct Follow: Hashable, Sendable {
        /// As `--follow` takes it.
        public var source: Placed<String>?
        public var whenLost: WhenLost?
    }

    /// What becomes of a song whose leader falls silent.
    public enum WhenLost: String, CaseIterable, Hashable, Sendable {
        /// It goes on at the last tempo.
        case hold
        case stop
    }

    /// How to take part in the session.
    public struct Link: Hashable, Sendable {
        /// 0 to 64 beats.
        public var quantum: Beats?
        /// Network interfaces by name; an empty list stands for all.
        public var interfaces: [Placed<String>] = []
        public var deactivatesWhenIdle: Bool?
    }

    /// Where the control server listens.
    public struct HTTP: Hashable, Sendable {
        /// A number such as `127.0.0.1`.
        public var address: Placed<String>?
        /// 1 to 65535.
        public var port: Placed<Int>?
        public var tokenFile: Placed<String>?
    }

    /// Where messages of Open Sound Control are taken.
    public struct OSC: Hashable, Sendable {
        public var isEnabled: Bool?
        /// A number such as `127.0.0.1`.
        public var address: Placed<String>?
        /// 1 to 65535.
        public var port: Placed<Int>?
    }

    /// What to log.
    public struct Log: Hashable, Sendable {
        public var level: LogLevel?
        public var format: LogFormat?
    }

    /// How much to log, by the names that loggers have.
    public enum LogLevel: String, CaseIterable, Hashable, Sendable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// How to log.
    public enum LogFormat: String, CaseIterable, Hashable, Sendable {
        case text, json
    }
}
