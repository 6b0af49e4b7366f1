import ArgumentParser
import BeatTime
import ClockDispatch
import ControlServer
import Essentials
import Gateway
import Glibc
import Logging
import MIDIClock

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the gateway until Ctrl-C.",
        discussion: """
            Takes part in the Link session of your network and sends MIDI clock to its sequencer port 'Clock' and to \
            every device that a profile recognises, or to every --output instead. Devices may be connected later.

            Ctrl-C ends it, after a Stop to every playing device. So does closing its terminal, unless it was started \
            with nohup. Without a terminal, as in a service, SIGHUP makes it reload configuration and profiles.

            EXAMPLES
              tactus run --output TR-8S                a device, by part of its name
              tactus run --output UM-ONE=korg-volca    a machine on a DIN cable
              tactus run --output 24:0 --output 28:0   two ports of 'tactus ports'
              tactus run --output raw:/dev/ttyAMA0     a small board's serial port
              tactus run --output audio:hw:CARD=ES8/3=volca-sync    pulses from a sound card
              tactus run --no-link --follow MPC        follow another machine's clock
              tactus run --http 0.0.0.0:8808 --http-token-file token.txt --qr
            """)

    @Option(
        help: ArgumentHelp(
            """
            A configuration file; options override it. (default: ~/.config/tactus/config.yaml, else \
            /etc/tactus/config.yaml)
            """, valueName: "file"), completion: .file(extensions: ["yaml"]))
    var config: String?

    @Option(
        help: ArgumentHelp("Another folder of device profiles. Repeatable.", valueName: "dir"),
        completion: .directory)
    var profiles: [String] = []

    @Flag(
        inversion: .prefixedNo,
        help: "Take part in the Link session. (default: as last switched, else as configured, else yes)")
    var link: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Share play and stop with the session. (default: as last switched, else as configured, else no)")
    var startStopSync: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Start playing once ready, for boxes without a screen. (default: as configured, else no)")
    var play: Bool?

    @Option(
        parsing: .unconditional,  // so that '--quantum -1' is told what is wrong with it
        help: ArgumentHelp(
            "Beats in a bar, \(CommandRange.quantum.numbers); 0 for no bars. (default: as last set, else 4)",
            valueName: "beats"),
        transform: Beats.init(quantumArgument:))
    var quantum: Beats?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Tempo until somebody sets another, \(CommandRange.tempo.numbers). (default: the last one, else the configured \
            one, else 120)
            """,
            valueName: "bpm"),
        transform: Tempo.init(argument:))
    var tempo: Tempo?

    @Option(
        help: ArgumentHelp(
            "Tempo range of devices whose profiles give none; others are halved or doubled. (default: 20-999)",
            valueName: "low-high"), transform: TempoRange.init(argument:))
    var tempoRange: TempoRange?

    @Option(
        help: ArgumentHelp(
            "Follow the session's tempo only within this range; outside, hold the last tempo. (default: 20-999)",
            valueName: "low-high"), transform: TempoFence.init(argument:))
    var sessionTempo: TempoFence?

    @Option(
        help: ArgumentHelp(
            """
            A device to drive: NAME or a part of it, CLIENT:PORT, virtual:NAME for a port that others connect to, \
            raw:PATH[@BAUD] for a device node, FIFO or serial line, or audio:CARD/CHANNEL[+CHANNEL] for clock pulses or \
            a click from a sound card; then, if you like, = and a profile of 'tactus profiles list'. Repeatable. (default: \
            every device that a profile recognises)
            """, valueName: "port[=profile]"), completion: .takingPort,
        transform: OutputArgument.init(argument:))
    var output: [OutputArgument] = []

    @Option(
        help: ArgumentHelp(
            "What to call an --output, such as UM-ONE=Bass. Repeatable. (default: the port's own name)",
            valueName: "port=name"), transform: OutputName.init(argument:))
    var name: [OutputName] = []

    @Flag(help: "Do not create the general port 'Clock'.")
    var noClockPort = false

    @Option(
        help: ArgumentHelp(
            """
            Whose clock to follow when Link is off: NAME or a part of it, CLIENT:PORT, auto for any clock at 'Clock \
            In' (or the device of --clock-in), or off for none. See 'tactus follow --help'. (default: auto)
            """, valueName: "port"), completion: .sendingPort(or: "auto", "off"),
        transform: FollowChoice.init(argument:))
    var follow: FollowChoice?

    @Option(
        help: ArgumentHelp(
            "Follow the clock of a raw MIDI device such as hw:1,0, with the kernel's most exact time stamps.",
            valueName: "hw:card,device"),
        transform: clockInDevice(argument:))
    var clockIn: String?

    @Option(
        help: ArgumentHelp(
            "Use only this network for Link, such as eth0. Repeatable. (default: all)", valueName: "name"),
        completion: .shellCommand("ls /sys/class/net"),
        transform: interfaceName(argument:))
    var interface: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Where the panel and the other commands reach this gateway; 0.0.0.0:8808 opens it to your network. \
            (default: 127.0.0.1:8808)
            """, valueName: "address:port"),
        transform: HTTPAddress.init(argument:))
    var http: HTTPAddress?

    @Flag(help: "Print a QR code that opens the panel on a phone, token included; see --http.")
    var qr = false

    @Flag(help: "Serve no HTTP: there is no panel, and the other commands do not work.")
    var noHttp = false

    @Option(
        help: ArgumentHelp(
            "A file with a secret that clients must show; needed if others can reach --http.", valueName: "file"),
        completion: .file())
    var httpTokenFile: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Real-time priority of the clock, 0 to 99; 0 for none. If your limits do not allow it, Tactus asks rtkit, \
            which grants at most 20. (default: 80)
            """, valueName: "n"),
        transform: priority(argument:))
    var realtimePriority = 80

    @Option(
        help: ArgumentHelp(
            """
            How ticks are sent: direct, by the clock's own thread; queue, some milliseconds ahead by the sequencer's \
            queue; or auto, what suits this machine best. (default: auto)
            """, valueName: "way"), completion: .list(DispatchChoice.allCases.map(\.rawValue)),
        transform: dispatchChoice(argument:))
    var dispatch = DispatchChoice.auto

    @Option(
        help: ArgumentHelp(
            """
            Where switches, tempo and the outputs' settings are saved for the next run. \
            (default: tactus in $XDG_STATE_HOME, or ~/.local/state/tactus)
            """, valueName: "dir"), completion: .directory)
    var state: String?

    @Option(
        help: ArgumentHelp(
            "What to log: trace, debug, info, notice, warning, error or critical. (default: notice)", valueName: "level"
        ), completion: .list(Logger.Level.allCases.map(\.rawValue)),
        transform: logLevel(argument:))
    var logLevel: Logger.Level?

    @Option(help: ArgumentHelp("How to log: text or json. (default: text)", valueName: "format"))
    var logFormat: LogFormatArgument?

    func validate() throws {
        if output.count > 63 { throw ValidationError("--output is given \(output.count) times; 63 is the most") }
        if noHttp, http != nil { throw ValidationError("--http and --no-http cannot be combined") }
        if noHttp, qr { throw ValidationError("--qr and --no-http cannot be combined") }
        if clockIn != nil, let follow, follow != .auto {
            throw ValidationError("--clock-in and --follow cannot be combined")
        }
        for output in output where !noClockPort {
            do throws(BadArgument) {
                try output.destination.requireNotClock()
            } catch {
                throw ValidationError("--output virtual:Clock: \(error)")
            }
        }
        let outputs = output.map(\.destination.argument)
        // A port may have an output of time code beside one of a clock; which profile is which is known later.
        for (index, name) in outputs.enumerated()
        where output[..<index].contains(where: {
            $0.destination.argument == name && $0.profile == output[index].profile
        }) {
            throw ValidationError("--output \(name) is given twice")
        }
        for (index, name) in name.enumerated() {
            guard outputs.contains(name.destination.argument) else {
                throw ValidationError("--name \(name.destination.argument)=\(name.name): there is no such --output")
            }
            do throws(BadArgument) {
                try name.destination.requireNameable(name.name, hasClockPort: !noClockPort)
            } catch {
                throw ValidationError("--name \(name.destination.argument)=\(name.name): \(error)")
            }
            let namesakes = output.map(\.destination).filter { $0.argument != name.destination.argument }
            guard !namesakes.contains(where: { $0.ownName?.lowercased() == name.name.lowercased() }) else {
                throw ValidationError(
                    "--name \(name.destination.argument)=\(name.name): another --output is called so; choose another name"
                )
            }
            for other in self.name[..<index]
            where other.destination.argument == name.destination.argument
                || other.name.lowercased() == name.name.lowercased()
            {
                throw ValidationError("two --name name the same output, or give the same name")
            }
        }
    }
}

/// `--log-format`.
enum LogFormatArgument: String, ExpressibleByArgument, CaseIterable {
    case text, json

    var format: LogFormat { self == .json ? .json : isJournal ? .journal : .text }

    /// Whether stderr is the journal, as systemd's JOURNAL_STREAM says it.
    private var isJournal: Bool {
        guard let identity = Files.identity(of: STDERR_FILENO) else { return false }
        return environment("JOURNAL_STREAM") == identity
    }
}
