import ALSASequencer
import ArgumentParser
import DeviceProfiles
import Essentials
import Gateway
import Glibc
import MIDIClock

struct LearnCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "learn",
        abstract: "Bind the next button, pedal or pad that is pressed to a command.",
        discussion: """
            Listens to every port of this machine's sequencer, whether the gateway runs or not, and prints what to \
            write into the configuration file; with --save it writes it there.

            EXAMPLES
              tactus learn tap                   press the pedal; the line for the file is printed
              tactus learn toggle-play --save    and written, after which 'tactus reload' takes it up
            """)

    @Argument(
        help: ArgumentHelp(
            "What it is to do: \(Control.Verb.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "verb"),
        completion: .list(Control.Verb.allCases.map(\.rawValue)), transform: Control.Verb.init(argument:))
    var verb: Control.Verb

    @Flag(help: "Write it into the configuration file; all else there stays as it is.")
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
        guard (1...600).contains(seconds) else { throw ValidationError("--seconds is a whole number from 1 to 600") }
    }

    func run() async throws {
        let file = config ?? Folders.configuration ?? Folders.ownConfiguration
        if save, file == nil { throw Failure(.system, "there is no home folder to keep a configuration in") }
        var ear = try Ear()
        write("press it now (\(seconds) s)\n", to: STDERR_FILENO)
        let control = try await ear.control(doing: verb, within: seconds)
        print(json ? try Self.json(control) : "controls:\n\(ConfigurationText.item(control))")
        guard save, let file else { return }
        try ConfigurationText.add(control, to: file)
        write("kept in \(file); 'tactus reload' reads it\n", to: STDERR_FILENO)
    }

    private static func json(_ control: Control) throws -> String {
        let message = control.message
        let channel = message.channel.map { ["channel": $0] } ?? [:]
        return try JSON.text(
            Learnt(
                port: control.port.value, do: control.verb.rawValue,
                message: [message.kind.rawValue: message.number].merging(channel) { first, _ in first }))
    }

    /// What programs read.
    private struct Learnt: Encodable {
        var port, `do`: String
        var message: [String: Int]
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

/// Hears everything that is pressed at this machine's sequencer.
private struct Ear {
    private let input: ControlInput
    private let ports: [PortDescription]
    private var presses = PressDetector()

    init() throws(Failure) {
        let (input, control) = try openSequencer { () throws(ALSAError) in
            (try ControlInput(name: "Tactus Learn"), try SequencerControl(name: "Tactus Learn Control"))
        }
        self.input = input
        ports = control.ports().filter { $0.isReadable && $0.isUsable && !$0.clientName.hasPrefix("Tactus") }
        // One that refuses, because another program alone may hear it, is not what is pressed.
        for port in ports { _ = try? control.subscribe(input.address, to: port.address) }
        if ports.isEmpty { throw Failure(.unavailable, "no port sends anything; connect what is to be pressed") }
    }

    /// Waits for a press.
    mutating func control(doing verb: Control.Verb, within seconds: Int) async throws(Failure) -> Control {
        let end = ContinuousClock.now.advanced(by: .seconds(seconds))
        while ContinuousClock.now < end {
            for arrival in input.take() where presses.isPress(arrival) {
                guard let port = ports.first(where: { $0.address == arrival.source }) else { continue }
                let (name, message) = (port.plainestName(among: ports), arrival.message)
                return Control(
                    port: Placed(name, at: Place(file: "", line: 1, column: 1)),
                    message: Control.Message(message.kind, message.number, channel: message.channel), verb: verb)
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
        throw Failure(.unavailable, "nothing was pressed in \(seconds) s; 'aseqdump -p PORT' shows what a port sends")
    }
}
