import ArgumentParser
import BeatTime
import ConfigurationFiles
import Essentials
import Gateway
import Glibc
import MIDIClock

struct LearnCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "learn",
        abstract: "Bind the next button, pedal or pad that is pressed to a command.",
        discussion: """
            Listens to every port of this machine's sequencer, including those that appear while it waits; the gateway \
            need not run. It prints what to write into the configuration file; with --save it writes it there. If no \
            release is reported it asks for a second press, which tells whether the pedal alternates (latching).

            EXAMPLES
              tactus learn tap                   press the pedal; the line for the file is printed
              tactus learn toggle-play --save    the line is also written; 'tactus reload' then applies it
              tactus learn tempo 128             a press then sets this tempo
              tactus learn enter --bars 4        a press then lets muted machines enter four bars later
            """)

    @Argument(
        help: ArgumentHelp(
            "What it should do: \(Control.Verb.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "verb"),
        completion: .list(Control.Verb.allCases.map(\.rawValue)), transform: Control.Verb.init(argument:))
    var verb: Control.Verb

    @Argument(
        help: ArgumentHelp(
            "With tempo: the beats per minute to set, \(CommandRange.tempo.numbers).", valueName: "bpm"),
        transform: Tempo.init(argument:))
    var tempo: Tempo?

    @Option(
        help: ArgumentHelp(
            "With enter: after how many bars, \(CommandRange.entryBars.words); with count-in: how many bars, "
                + "\(CommandRange.countIn.words).", valueName: "bars"))
    var bars: Int?

    @Flag(help: "Write it into the configuration file; the rest of the file stays as it is.")
    var save = false

    @Option(
        help: ArgumentHelp(
            "The configuration file. (default: ~/.config/tactus/config.yaml, else /etc/tactus/config.yaml)",
            valueName: "file"), completion: .file(extensions: ["yaml"]))
    var config: String?

    @Option(help: ArgumentHelp("How long to wait, 1 to 600.", valueName: "seconds"))
    var seconds = 60

    @Flag(help: "Print it as JSON.")
    var json = false

    func validate() throws {
        guard verb != .tempo || tempo != nil else {
            throw ValidationError("say which tempo, such as 'tactus learn tempo 128'")
        }
        guard verb == .tempo || tempo == nil else {
            throw ValidationError("'\(verb.rawValue)' takes no beats per minute; only 'tempo' does")
        }
        if let range = verb.bars {
            guard let bars, range.contains(bars) else {
                throw ValidationError("'\(verb.rawValue)' takes --bars, \(range.lowerBound) to \(range.upperBound)")
            }
        } else if bars != nil {
            throw ValidationError("--bars is for enter and count-in")
        }
        guard (1...600).contains(seconds) else { throw ValidationError("--seconds is a whole number from 1 to 600") }
    }

    func run() throws {
        let file = config ?? Folders.configurationToChange
        if save, file == nil {
            throw Failure(.system, "there is no home folder for a configuration; name a file with --config")
        }
        var listener = try PressListener(tell: Self.tell)
        Self.tell("press it now (\(seconds) s)")
        let control = try listener.control(
            doing: verb, tempo: tempo.map { Int64(($0.beatsPerMinute * 1_000).rounded()) }, bars: bars, within: seconds)
        print(json ? try Self.json(control) : "controls:\n\(ConfigurationText.item(control))")
        guard save, let file else { return }
        try ConfigurationText.add(control, to: file)
        Self.tell("saved in \(file); 'tactus reload' applies it")
    }

    /// Prints a line for people, not for programs.
    private static func tell(_ line: String) {
        write("\(line.withoutControls)\n", to: STDERR_FILENO)
    }

    private static func json(_ control: Control) throws -> String {
        let message = control.message
        let channel = message.channel.map { ["channel": $0] } ?? [:]
        return try JSON.text(
            Learnt(
                port: control.port.value, do: control.verb.rawValue,
                message: [message.kind.rawValue: message.number].merging(channel) { first, _ in first },
                tempo: control.tempo.map { Double($0) / 1_000 }, bars: control.bars,
                latching: control.isLatching))
    }

    /// The JSON result.
    private struct Learnt: Encodable {
        var port, `do`: String
        var message: [String: Int]
        var tempo: Double?
        var bars: Int?
        var latching: Bool
    }
}

extension Control.Verb {
    init(argument: String) throws(BadArgument) {
        guard let verb = Self(rawValue: argument) else {
            throw BadArgument("a control does one of \(Self.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self = verb
    }
}
