package import BeatTime
package import MIDIClock

/// What a configuration file says; what it does not say is nil or empty, and stays as the command line or default has it.
///
/// Names of ports, addresses and other words with a grammar of their own are kept as text with their place, so that
/// whoever reads that grammar can say where it was broken.
package struct ConfigurationFile: Hashable, Sendable {
    package var outputs: [Output] = []
    /// Whether devices that a profile recognises are connected, too: `auto-connect`.
    package var connectsRecognised: Bool?
    package var follow = Follow()
    package var link = Link()
    /// Tempos of the session outside of it are folded into it.
    package var tempoRange: TempoRange?
    /// The tempos of the session that outputs go along with: `session-tempo`.
    package var sessionTempo: Placed<TempoFence>?
    /// What outputs do outside of it: `session-tempo-outside`.
    package var outsideSessionTempo: TempoFence.Outside?
    package var http = HTTP()
    package var osc = OSC()
    package var controls: [Control] = []
    package var log = Log()

    /// A file that says nothing.
    package init() {}

    /// One output.
    package struct Output: Hashable, Sendable {
        /// As `--output` takes it, without a profile.
        package var port: Placed<String>
        /// The ID of a profile; nil takes the one that recognises the port.
        package var profile: Placed<String>?
        package var overrides = ProfileOverrides()
    }

    /// Whose clock to follow when Link is off.
    package struct Follow: Hashable, Sendable {
        /// As `--follow` takes it.
        package var source: Placed<String>?
        package var whenLost: WhenLost?
    }

    /// What becomes of a song whose leader falls silent.
    package enum WhenLost: String, CaseIterable, Hashable, Sendable {
        /// It goes on at the last tempo.
        case hold
        case stop
    }

    /// How to take part in the session.
    package struct Link: Hashable, Sendable {
        /// 0 to 64 beats.
        package var quantum: Beats?
        /// Network interfaces by name; an empty list stands for all.
        package var interfaces: [Placed<String>] = []
        package var deactivatesWhenIdle: Bool?
    }

    /// Where the control server listens.
    package struct HTTP: Hashable, Sendable {
        /// A number such as `127.0.0.1`.
        package var address: Placed<String>?
        /// 1 to 65535.
        package var port: Placed<Int>?
        package var tokenFile: Placed<String>?
    }

    /// Where messages of Open Sound Control are taken.
    package struct OSC: Hashable, Sendable {
        package var isEnabled: Bool?
        /// A number such as `127.0.0.1`.
        package var address: Placed<String>?
        /// 1 to 65535.
        package var port: Placed<Int>?
    }

    /// What to log.
    package struct Log: Hashable, Sendable {
        package var level: LogLevel?
        package var format: LogFormat?
    }

    /// How much to log, by the names that loggers have.
    package enum LogLevel: String, CaseIterable, Hashable, Sendable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// How to log.
    package enum LogFormat: String, CaseIterable, Hashable, Sendable {
        case text, json
    }
}
