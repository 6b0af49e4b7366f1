import ArgumentParser
import BeatTime
import ControlServer
import Essentials
import Gateway
import GatewayStatus
import Glibc
import MIDIClock
import RealTime

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show who leads, the tempo, the beat, the peers and the outputs.",
        discussion: """
            Outputs in trouble come first. Mode, tempo and transport are at the end, where a terminal shows them. LATE \
            counts ticks over a millisecond late; HALF and 99 % say how late at most half and 99 % of the ticks were, \
            WORST how late the latest was. A narrow terminal shows fewer columns. 'tactus watch' keeps showing it all.

            With --qr it prints a QR code instead. It opens the panel at --url, and contains the token of \
            --token-file, so whoever scans it can control the gateway.

            EXAMPLES
              tactus status
              tactus status --json | jq .tempo
              tactus status --qr --url http://rack.local:8808 --token-file token.txt
            """)

    @Flag(help: "Print a QR code that opens the panel on a phone.") var qr = false
    /// An option of version 0.2.0.
    @Flag(help: .hidden) var watch = false
    @OptionGroup var remote: RemoteOptions

    func validate() throws {
        if watch { throw ValidationError("--watch has become a command: 'tactus watch'") }
        if qr, remote.json { throw ValidationError("--qr cannot be combined with --json") }
    }

    func run() async throws {
        guard !qr else { return try await printCode() }
        try await remote.ask("status") {
            StatusText.lines($0, width: Terminal()?.size.columns).joined(separator: "\n")
        }
    }

    private func printCode() async throws {
        let client = try remote.client
        // So that the code works: somebody answers there, and takes the token.
        _ = try await client.ask("status", nil)
        guard !remote.url.isLoopback else {
            throw Failure(
                .usage,
                "\(remote.url) is for this machine only; give the gateway's network address with --url. If nobody "
                    + "answers there, \(PanelAddress.onlyHere)")
        }
        let lines = try PanelAddress.code(
            remote.url.description, token: client.token, isTerminal: isatty(STDOUT_FILENO) == 1)
        print(lines.joined(separator: "\n"))
    }
}

struct LinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Join the Link session of your network, or leave it.",
        discussion: """
            The machines play on. Without Link, the gateway keeps its own tempo, or follows another machine's clock.

            EXAMPLES
              tactus link on
              tactus link off
            """)

    @Argument(help: "on or off.") var state: Switch
    @OptionGroup var remote: RemoteOptions

    func run() async throws {
        try await remote.give(.enableLink(state == .on)) { "Link is \($0.link.enabled ? "on" : "off")" }
    }
}

struct StartStopSyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start-stop-sync", abstract: "Choose whether to share play and stop with the session.",
        discussion: """
            With it on, play and stop act on all peers that have it on, and theirs act here. The tempo is always shared.

            EXAMPLES
              tactus start-stop-sync on
              tactus start-stop-sync off
            """)

    @Argument(help: "on or off.") var state: Switch
    @OptionGroup var remote: RemoteOptions

    func run() async throws {
        try await remote.give(.enableStartStopSync(state == .on)) {
            "start/stop sync is \($0.link.startStopSync ? "on" : "off")"
        }
    }
}

struct PlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Start the devices, on the next bar if others are in the session.",
        discussion: """
            EXAMPLES
              tactus play
              tactus play --count-in 2                  after two bars of clock alone
              tactus play --json | jq .startsInBeats    how many beats are left until the start
            """)

    @Option(
        help: ArgumentHelp(
            "Begin the song so many bars later; the clock runs meanwhile. \(CommandRange.countIn.words).",
            valueName: "bars"))
    var countIn = 0
    @OptionGroup var remote: RemoteOptions

    func validate() throws {
        guard CommandRange.countIn.contains(Double(countIn)) else {
            throw ValidationError("--count-in takes \(CommandRange.countIn.words) bars")
        }
    }

    func run() async throws {
        try await remote.give(countIn > 0 ? .countIn(bars: countIn) : .setPlaying(true)) { StatusText.transport($0) }
    }
}

struct StopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Stop the devices; the clock continues, so that they stay in tempo.",
        discussion: """
            EXAMPLES
              tactus stop
            """)

    @OptionGroup var remote: RemoteOptions

    func run() async throws {
        try await remote.give(.setPlaying(false)) { StatusText.transport($0) }
    }
}

struct TempoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tempo", abstract: "Set or change the tempo, for everyone in the session.",
        usage: "tactus tempo <bpm>|--half|--double [--url <url>] [--token-file <file>] [--json]",
        discussion: """
            A number with a sign is a step. Steps add up, whoever makes them.

            EXAMPLES
              tactus tempo 128.5
              tactus tempo +1
              tactus tempo -0.1
              tactus tempo --double
              tactus tempo --half
            """)

    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp(
            "Beats per minute, \(CommandRange.tempo.numbers); or a step, with its sign, such as +1 or -0.5.",
            valueName: "bpm"))
    var words: [String] = []
    @Flag(help: "Halve the tempo.") var half = false
    @Flag(help: "Double the tempo.") var double = false
    @OptionGroup var remote: RemoteOptions

    func validate() throws { _ = try change() }

    private func change() throws -> Command {
        let words = try withoutOptions(words)
        switch (words.count, half, double) {
        case (0, true, false): return .scaleTempo(by: 0.5)
        case (0, false, true): return .scaleTempo(by: 2)
        case (1, false, false):
            guard let sign = words[0].first, "+-".contains(sign) else {
                do throws(BadArgument) {
                    return .setTempo(try Tempo(argument: words[0]))
                } catch {
                    throw ValidationError("the value '\(words[0])' is invalid for '<bpm>': \(error)")
                }
            }
            guard let step = signedDecimal(words[0]), CommandRange.tempoStep.contains(step) else {
                throw ValidationError("a step is \(CommandRange.tempoStep.words), such as +1 or -0.5")
            }
            return .stepTempo(by: step)
        default:
            throw ValidationError("give a tempo such as 128.5, a step such as +1 or -0.5, --half or --double")
        }
    }

    func run() async throws {
        try await remote.give(try change()) { "\(StatusText.tempo($0)) BPM" }
    }
}

struct UndoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Undo the last change; a second undo redoes it.",
        discussion: """
            That is the last change of tempo, play and stop, quantum, Link, start/stop sync, the clock to follow, or an \
            output's settings, whoever made it through this gateway. Steps of the same kind within two seconds count as \
            one. If somebody else in the session has changed it since, it stays. Realign and bend leave nothing to undo, \
            and a reload forgets the last change.

            EXAMPLES
              tactus tempo 90 && tactus undo
              tactus status --json | jq .undo    what it would do now
            """)

    @OptionGroup var remote: RemoteOptions

    func run() async throws {
        let done = try await remote.status().undo ?? "undone"
        try await remote.give(.undo) { status in
            let again = status.undo.map { "; a second 'tactus undo' would do: \($0)" } ?? ""
            return "\(done)\(again)".withoutControls
        }
    }
}

struct TapCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tap", abstract: "Tap the tempo: give this command on the beat, four times or more.",
        discussion: """
            Nothing changes before three taps agree, or more of an uneven hand; each answer says how many are wanted. One tap too many, too early or \
            too late is left out. Up to sixteen taps count, from 30 to 300 BPM.

            EXAMPLES
              tactus tap
            """)

    @OptionGroup var remote: RemoteOptions

    func run() async throws {
        // The time of this command is more exact than that of its arrival at the gateway.
        try await remote.give(.tap(at: HostTime.now())) {
            StatusText.tap($0) ?? "\(StatusText.tempo($0)) BPM"
        }
    }
}

struct QuantumCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quantum", abstract: "Set how many beats a bar has; playing starts on a bar.",
        discussion: """
            EXAMPLES
              tactus quantum 3
              tactus quantum 0    no bars: playing starts on the next beat
            """)

    @Argument(
        help: ArgumentHelp("Beats, \(CommandRange.quantum.numbers); 0 for no bars.", valueName: "beats"),
        transform: Beats.init(quantumArgument:))
    var quantum: Beats
    @OptionGroup var remote: RemoteOptions

    func run() async throws {
        try await remote.give(.setQuantum(quantum)) {
            "a bar has \(StatusText.decimals($0.quantum)) beats"
        }
    }
}

struct FollowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow", abstract: "Choose whose MIDI clock leads while Link is off.",
        discussion: """
            With auto, Tactus follows the first steady clock that comes in at its port 'Clock In'. It connects devices \
            to that port if their profile lets them lead; you can connect others, for example with aconnect.

            EXAMPLES
              tactus follow MPC     a port, by part of its name
              tactus follow 24:0    or by its number
              tactus follow auto    whatever clock comes in at 'Clock In'
              tactus follow off     none
            """)

    @Argument(
        help: ArgumentHelp(
            "A port as 'tactus ports' lists it, auto for any clock at 'Clock In', or off for none.",
            valueName: "port"), completion: .sendingPort(or: "auto", "off"),
        transform: FollowChoice.init(argument:))
    var source: FollowChoice
    @OptionGroup var remote: RemoteOptions

    func run() async throws {
        try await remote.give(.follow(source)) { status in
            let followed =
                switch source {
                case .off: "no clock is followed"
                case .auto: "while Link is off, the first steady clock at 'Clock In' is followed"
                case .port(let name): "while Link is off, \(name) is followed"
                }
            let away = status.warnings.filter { $0.code == "clock-away" }.map { "\($0.message); \($0.fix)" }
            return ([followed] + away).map(\.withoutControls).joined(separator: "\n")
        }
    }
}

/// The words of a command that takes negative numbers, for which the parser lets unknown options through.
func withoutOptions(_ words: [String]) throws -> [String] {
    let plain = words.prefix { $0 != "--" }
    if let option = plain.first(where: { $0.hasPrefix("--") }) { throw ValidationError("unknown option '\(option)'") }
    return Array(plain + words.dropFirst(plain.count + 1))
}

struct NudgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nudge", abstract: "Send to one device, or to all, a little earlier or later.",
        usage: "tactus nudge <ms>|--set <ms>|--reset [<output>] [--url <url>] [--token-file <file>] [--json]",
        discussion: """
            The time is added to the output's offset, which must stay within \(CommandRange.offset.words); if any output would leave \
            that range, none is moved. The session does not change. Play the device together with others and nudge it \
            until they are in time. The change is gradual, so no device stumbles.

            EXAMPLES
              tactus nudge -2.5 tr-8s    two and a half milliseconds earlier
              tactus nudge 1             everything a millisecond later
              tactus nudge --set -3      every offset is -3 ms now
              tactus nudge --reset       offsets are as configured again
            """)

    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp(
            "Milliseconds, negative for earlier; then the output, a part of its name, or a group, unless you mean all.",
            valueName: "ms"), completion: .output)
    var words: [String] = []
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Set the offset itself, \(CommandRange.offset.words).", valueName: "ms"))
    var set: String?
    @Flag(help: "Reset the offset to the configured one.") var reset = false
    @OptionGroup var remote: RemoteOptions

    func validate() throws { _ = try parts() }

    /// The change, and the output.
    private func parts() throws -> (change: OutputAdjustment, output: String?) {
        let words = try withoutOptions(words)
        guard set == nil || !reset else { throw ValidationError("--set and --reset cannot be combined") }
        if set != nil || reset {
            guard words.count < 2 else {
                throw ValidationError("after \(reset ? "--reset" : "--set <ms>"), give one output at most")
            }
            guard let set else { return (OutputAdjustment(resetsOffset: true), words.first) }
            guard let offset = signedDecimal(set), CommandRange.offset.contains(offset) else {
                throw ValidationError("an offset is \(CommandRange.offset.words), such as --set -3")
            }
            return (OutputAdjustment(offset: offset), words.first)
        }
        guard !words.isEmpty else { throw ValidationError("missing expected argument '<ms>'") }
        guard words.count < 3, let milliseconds = signedDecimal(words[0]),
            CommandRange.nudge.contains(milliseconds)
        else {
            throw ValidationError(
                "a nudge is \(CommandRange.nudge.words), then the output's name if only one is meant")
        }
        return (OutputAdjustment(nudge: milliseconds), words.count == 2 ? words[1] : nil)
    }

    func run() async throws {
        let (change, output) = try parts()
        try await remote.give(.adjust(output: output, change)) { status in
            let moved = output.flatMap { try? status.outputs.meant(by: $0).items } ?? status.outputs
            return moved.map { "\($0.id): \(StatusText.decimals($0.offsetMilliseconds)) ms" }.joined(separator: "\n")
        }
    }
}

struct RealignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "realign", abstract: "Bring a device that lost its place back in step at the next bar.",
        discussion: """
            Fails if nothing plays, or if the device is not connected. Without a name, absent devices are skipped.

            EXAMPLES
              tactus realign                every device
              tactus realign tr-8s --now    one of them, as soon as possible
            """)

    @Flag(help: "At the next sixteenth, if the device understands song positions.") var now = false

    @Argument(
        help: "The output as 'tactus status' names it, a part of its name, or a group. (default: all)",
        completion: .output)
    var output: String?
    @OptionGroup var remote: RemoteOptions

    func run() async throws {
        try await remote.give(.realign(output: output, now ? .now : .atBar)) { _ in
            "\(output ?? "every connected output") will realign \(now ? "as soon as it can" : "at the next bar")"
        }
    }
}

struct MuteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mute", abstract: "Stop a device at the next bar; its clock and the others go on.",
        discussion: """
            It stays stopped in songs that follow, until 'tactus unmute'. Without a name, all devices are muted that can be \
            sent Stop.

            EXAMPLES
              tactus mute tr-8s
            """)

    @Argument(
        help: "The output as 'tactus status' names it, a part of its name, or a group. (default: all)",
        completion: .output)
    var output: String?
    @OptionGroup var remote: RemoteOptions

    func run() async throws {
        try await remote.give(.mute(output: output, .on)) { status in
            "\(output ?? "every device") is muted\(status.transport == .playing ? " from the next bar on" : "")"
        }
    }
}

struct UnmuteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unmute", abstract: "Let a device enter at the next bar, or some bars after it.",
        discussion: """
            With --after, a device that plays already is stopped until then. While the song is stopped, bars are counted \
            from its beginning.

            EXAMPLES
              tactus unmute tr-8s
              tactus unmute tr-8s --after 8    eight bars after the next bar
            """)

    @Argument(
        help: "The output as 'tactus status' names it, a part of its name, or a group. (default: all)",
        completion: .output)
    var output: String?
    @Option(
        help: ArgumentHelp(
            "How many bars after the next bar, \(CommandRange.entryBars.words).", valueName: "bars"))
    var after = 0
    @OptionGroup var remote: RemoteOptions

    func validate() throws {
        guard CommandRange.entryBars.contains(Double(after)) else {
            throw ValidationError("--after takes \(CommandRange.entryBars.words) bars")
        }
    }

    func run() async throws {
        try await remote.give(.mute(output: output, .off(afterBars: after))) { status in
            let bars = after == 1 ? "a bar" : "\(after) bars"
            let place =
                switch (status.playing, after) {
                case (false, 0): "with the song"
                case (false, _): "\(bars) into the song"
                case (true, 0): "at the next bar"
                case (true, _): "\(bars) after the next bar"
                }
            return "\(output ?? "every device") enters \(place)"
        }
    }
}

struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Reload configuration and profiles; if anything is wrong, nothing changes.",
        discussion: """
            Outputs that have not changed keep running. Some keys of the configuration need a restart; the answer then \
            says so.

            EXAMPLES
              tactus reload
            """)

    @OptionGroup var remote: RemoteOptions

    func run() async throws {
        try await remote.ask("reload", "{}") { status in
            let told = ["restart-needed", "configuration-moved", "profile", "overrides"]
            let warnings = status.warnings.filter { told.contains($0.code) }.map { "\($0.message); \($0.fix)" }
            let count = status.outputs.count
            return (["reloaded: \(count) \(count == 1 ? "output" : "outputs")"] + warnings).map(\.withoutControls)
                .joined(separator: "\n")
        }
    }
}
