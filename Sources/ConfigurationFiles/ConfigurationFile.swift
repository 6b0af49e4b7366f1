package import BeatTime
package import MIDIClock

/// The contents of a configuration file; anything not written is nil or empty.
///
/// Names of ports, addresses and other words with their own grammar are kept as text with their position. The code that
/// parses them can then report where they are wrong.
package struct ConfigurationFile: Hashable, Sendable {
    /// Whether to play once ready, at each start: `play`.
    package var play: Bool?
    /// Whether to play again after an abrupt end while machines played: `resume`.
    package var resume: Bool?
    /// The tempo to start with, in thousandths of a BPM: `tempo`.
    package var tempo: Int64?
    /// What counts at each start; the rest counts until something else was saved.
    package var atEachStart: [Starting] = []
    package var outputs: [Output] = []
    /// Whether recognized devices are connected automatically: `auto-connect`.
    package var connectsRecognised: Bool?
    package var follow = Follow()
    package var link = Link()
    /// Range for tempos sent to devices; other tempos are folded into it.
    package var tempoRange: TempoRange?
    /// The tempos of the session that outputs go along with: `session-tempo`.
    package var sessionTempo: Placed<TempoFence>?
    /// What outputs do outside of it: `session-tempo-outside`.
    package var outsideSessionTempo: TempoFence.Outside?
    package var http = HTTP()
    package var osc = OSC()
    package var controls: [Control] = []
    package var log = Log()

    /// An empty file.
    package init() {}

    /// Keys that say how to start, and that a run saves when they are changed while it runs.
    package enum Starting: String, CaseIterable, Hashable, Sendable {
        case tempo, link
        case startStopSync = "start-stop-sync"
    }

    /// One output.
    package struct Output: Hashable, Sendable {
        /// The port as for `--output`, without a profile.
        package var port: Placed<String>
        /// What to call it; nil for the port's own name.
        package var name: Placed<String>?
        /// The ID of a profile; nil for the one that recognizes the port.
        package var profile: Placed<String>?
        /// Groups that it belongs to.
        package var groups: [Placed<String>] = []
        package var overrides = ProfileOverrides()
    }

    /// Whose clock to follow when Link is off.
    package struct Follow: Hashable, Sendable {
        /// As for `--follow`.
        package var source: Placed<String>?
        package var whenLost: WhenLost?
        /// The leader's audio period.
        package var period: AudioPeriod?
    }

    /// What happens to a song when its leader falls silent.
    package enum WhenLost: String, CaseIterable, Hashable, Sendable {
        /// It continues at the last tempo.
        case hold
        case stop
    }

    /// How to take part in the session.
    package struct Link: Hashable, Sendable {
        package var isEnabled: Bool?
        package var isStartStopSyncEnabled: Bool?
        /// 0 to 64 beats.
        package var quantum: Beats?
        /// Names of network interfaces; an empty list means all.
        package var interfaces: [Placed<String>] = []
        package var deactivatesWhenIdle: Bool?
    }

    /// Where the control server listens.
    package struct HTTP: Hashable, Sendable {
        /// A numeric address such as `127.0.0.1`.
        package var address: Placed<String>?
        /// 1 to 65535.
        package var port: Placed<Int>?
        package var tokenFile: Placed<String>?
    }

    /// Where Open Sound Control messages are received.
    package struct OSC: Hashable, Sendable {
        package var isEnabled: Bool?
        /// A numeric address such as `127.0.0.1`.
        package var address: Placed<String>?
        /// 1 to 65535.
        package var port: Placed<Int>?
    }

    /// What to log.
    package struct Log: Hashable, Sendable {
        package var level: LogLevel?
        package var format: LogFormat?
    }

    /// How much to log, with the usual level names.
    package enum LogLevel: String, CaseIterable, Hashable, Sendable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// How to log.
    package enum LogFormat: String, CaseIterable, Hashable, Sendable {
        case text, json
    }
}
