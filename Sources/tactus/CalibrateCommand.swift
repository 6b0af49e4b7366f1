import ALSASequencer
import ArgumentParser
import BeatTime
import ConfigurationFiles
import Essentials
import Gateway
import GatewayStatus
import Glibc
import Listening
import MIDIClock

struct CalibrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate",
        abstract: "Measure how late a device or a cable is, and make the output send that much earlier.",
        discussion: """
            With --listen, a sound card of the gateway's machine listens to the device, which must play one sound on \
            each beat. Tactus starts the transport, and measures the delay and the device's own spread over 48 beats. \
            It then shifts the clock by up to 7 ms back and forth, and rejects a sound that does not follow. The delay \
            includes the sound card's own latency: give it as --input-latency. Or compare two channels with --against, \
            and it cancels out; the other channel carries another device, or the MIDI cable in an audio jack. \
            docs/calibrating.md shows the cables. At a terminal, the level is shown first until you press Enter.

            With --input, the clock of the output must come back: through a cable, or through a device that passes on \
            what it receives. That measures the way out and back. A device that you listen to has only the way out, so \
            check by ear as well. During the measurement, each tick is sent up to 1 % of a tick early or late at \
            random, so that it can be recognised when it comes back. If the device makes a clock of its own, or varies \
            too much, nothing is saved.

            EXAMPLES
              tactus calibrate tr-8s --listen hw:1            listen to channel 1 of a sound card
              tactus calibrate tr-8s --listen hw:1 --channel 3 --against 4 --save
              tactus calibrate tr-8s --input UM-ONE           measure for ten seconds
              tactus calibrate tr-8s --input UM-ONE --save    and keep the offset in your own profile
            """)

    @Argument(help: "The output as 'tactus status' names it, or a part of its name.", completion: .output)
    var output: String

    @Option(
        help: ArgumentHelp("The port at which its clock comes back, as 'tactus ports' lists it.", valueName: "port"),
        completion: .sendingPort())
    var input: String?

    @Option(
        help: ArgumentHelp(
            "The sound card that the machine plays into, as 'arecord -l' numbers it: hw:1, or default.",
            valueName: "device")
    )
    var listen: String?

    @Option(help: ArgumentHelp("The channel of the sound card with the machine. (default: 1)", valueName: "number"))
    var channel: Int?

    @Option(help: ArgumentHelp("The channel of the sound card to compare it with.", valueName: "number"))
    var against: Int?

    @Option(
        help: ArgumentHelp("Input latency of the sound card itself, 0 to 500. (default: 0)", valueName: "ms"))
    var inputLatency: Double?

    @Option(help: ArgumentHelp("How long to measure at --input, 1 to 600. (default: 10)", valueName: "seconds"))
    var seconds: Int?

    @Option(
        help: ArgumentHelp("A file that ends in .svg, for a plot of the hits that were heard.", valueName: "path"))
    var plot: String?

    @Flag(
        help: """
            Apply the offset from now on, and save it in a profile: with --listen in one that the gateway reads, on its \
            machine; with --input in one of your own.
            """)
    var save = false

    @OptionGroup var remote: RemoteOptions

    func validate() throws {
        guard (input == nil) != (listen == nil) else {
            throw ValidationError("say how to measure: either --listen with a sound card, or --input with a port")
        }
        guard (1...600).contains(seconds ?? 1) else {
            throw ValidationError("--seconds is a whole number from 1 to 600")
        }
        guard listen != nil else {
            guard channel == nil, against == nil, inputLatency == nil, plot == nil else {
                throw ValidationError("--channel, --against, --input-latency and --plot go with --listen")
            }
            return
        }
        guard seconds == nil else {
            throw ValidationError("--seconds goes with --input; --listen takes as many beats as it needs")
        }
        try checkChannels(channel, against: against)
        guard (0...500).contains(inputLatency ?? 0) else {
            throw ValidationError("--input-latency is milliseconds from 0 to 500")
        }
        guard inputLatency == nil || against == nil else {
            throw ValidationError("with --against the sound card's latency cancels out; leave out --input-latency")
        }
        guard plot.map({ $0.hasSuffix(".svg") && Files.isFolder(Files.folder(of: $0)) }) ?? true else {
            throw ValidationError("--plot is a file that ends in .svg, in an existing folder")
        }
    }

    func run() async throws {
        let target = try target(among: await remote.status().outputs)
        guard target.timeCode == nil else {
            throw Failure(
                .refused, "\(target.name) sends time code; only an output that sends a clock can be calibrated")
        }
        if let listen {
            try await run(listeningAt: listen, to: target)
        } else if let input {
            try await run(at: input, target)
        }
    }

    private func run(at input: String, _ target: Status.Output) async throws {
        let (measured, device) = try await measure(target, at: input)
        let offset = Self.offset(for: measured)
        try show(Result(measured, offset: offset), Self.lines(measured, of: target.name, offset: offset))
        if save { try await keep(offset, for: target, recognisedBy: device) }
    }

    private func run(listeningAt listen: String, to target: Status.Output) async throws {
        let guide = ListeningGuide(
            client: try remote.client, output: target, device: listen, channel: channel ?? 1, against: against,
            inputLatency: inputLatency, asks: isatty(STDIN_FILENO) == 1 && !remote.json)
        let (id, result) = try await guide.run(
            showing: ListeningView(isQuiet: remote.json, name: target.name, place: guide.place))
        if !remote.json {
            print(Self.plain(ListeningText.lines(result, of: target.name, isLatencyKnown: inputLatency != nil)))
        }
        // If the plot cannot be written the offset is still saved, and the other way round.
        let drawing = Swift.Result { try draw(result, of: target.name) }
        let saving = await saved(id, by: guide)
        if remote.json { print(try JSON.text(ListeningText.Found(figures: result, saved: try? saving.get()))) }
        if let saved = try saving.get() {
            let profile = try ListeningText.profile(of: saved)
            if !remote.json { show("saved in \(profile) on the gateway's machine; \(Self.precedence)") }
        }
        try drawing.get()
    }

    /// What the gateway saved; nil if it was not asked to save.
    private func saved(
        _ id: String, by guide: ListeningGuide
    ) async -> Swift.Result<ListeningReport.Saved?, any Error> {
        guard save else { return .success(nil) }
        do {
            return .success(try await guide.save(id))
        } catch {
            return .failure(error)
        }
    }

    private func draw(_ result: ListeningFigures, of name: String) throws {
        guard let plot else { return }
        do {
            try WholeFile.replace(plot, with: Array(ListeningPlot.svg(result, of: name).utf8))
        } catch {
            throw Failure(.system, "no plot at \(plot): \(error)")
        }
    }

    private func target(among outputs: [Status.Output]) throws -> Status.Output {
        do throws(UnclearName) {
            return try NameMatch.resolve(output, among: outputs)
        } catch {
            throw Failure(.refused, error.description)
        }
    }

    private func show(_ figures: some Encodable, _ lines: [String]) throws {
        print(remote.json ? try JSON.text(figures) : Self.plain(lines))
    }

    private func show(_ line: String) { print(Self.plain([line])) }

    /// Lines for people; names in them cannot steer the terminal.
    static func plain(_ lines: [String]) -> String { lines.map(\.withoutControls).joined(separator: "\n") }

    private func keep(_ offset: Double, for target: Status.Output, recognisedBy device: String?) async throws {
        _ = try await remote.client.give(.adjust(output: target.id, OutputAdjustment(offset: offset)))
        let path = try OwnProfile(for: target, recognisedBy: device).keep(offset: offset)
        if !remote.json { show("saved in \(path); \(Self.precedence)") }
    }

    /// What a later reload does with a saved offset.
    static let precedence =
        "it applies from now on; an offset for this output in config.yaml replaces it at the next reload"

    /// Milliseconds, to a hundredth, by which to send earlier.
    static func offset(for measured: LoopBack) -> Double { 0 - (Double(measured.median) / 10).rounded() / 100 }

    static func lines(_ measured: LoopBack, of name: String, offset: Double) -> [String] {
        func milliseconds(_ value: Double) -> String { "\(fixed(value / 1_000, 2)) ms" }
        let range = measured.range
        return [
            "\(name): out and back in \(milliseconds(Double(measured.median)))",
            "spread: \(milliseconds(Double(range.lowerBound))) to \(milliseconds(Double(range.upperBound))), standard "
                + "deviation \(milliseconds(measured.spread))",
            "ticks: \(measured.returned) of \(measured.sent) came back",
            "with an offset of \(fixed(offset, 2)) ms it arrives there on the beat",
        ]
    }

    /// What programs read.
    private struct Result: Encodable {
        var sent, returned: Int
        var medianMicroseconds, shortestMicroseconds, longestMicroseconds: Int64
        var deviationMicroseconds: Double
        var offsetMilliseconds: Double

        init(_ measured: LoopBack, offset: Double) {
            (sent, returned) = (measured.sent, measured.returned)
            medianMicroseconds = measured.median
            shortestMicroseconds = measured.range.lowerBound
            longestMicroseconds = measured.range.upperBound
            deviationMicroseconds = measured.spread
            offsetMilliseconds = offset
        }
    }

    /// Compares the output's ticks with those that come back; the kernel stamps both by the same clock.
    private func measure(_ output: Status.Output, at input: String) async throws -> (LoopBack, device: String?) {
        let seconds = seconds ?? 10
        let client = try ListeningClient(name: "Tactus Calibrate", portName: "Calibrate")
        let ports = client.control.ports()
        let source = try ListeningClient.sender(input, among: ports)
        guard source.clientName != "Tactus" else {
            throw Failure(
                .unavailable, "\(input) is one of the gateway's own ports; name the port where its clock comes back")
        }
        let sender = try Self.port(of: output, client.control, ports)
        for port in [sender, source.address] { try client.hear(port) }
        _ = try await remote.client.give(.adjust(output: output.id, OutputAdjustment(markSeconds: seconds)))
        var events: [ClockInputEvent] = []
        let end = ContinuousClock.now.advanced(by: .seconds(seconds))
        while ContinuousClock.now < end {
            try? await Task.sleep(for: .milliseconds(100))
            client.input.take(into: &events)
        }
        func ticks(from port: PortAddress) -> [HostTime] {
            events.compactMap { event in
                guard case .arrival(let arrival) = event, arrival.message == .timingClock else { return nil }
                return "\(arrival.source)" == port.description ? arrival.time : nil
            }
        }
        do throws(LoopBack.Failure) {
            let measured = try LoopBack(sent: ticks(from: sender), returned: ticks(from: source.address))
            return (measured, ports.deviceName(of: output))
        } catch {
            throw Failure(.unavailable, Self.message(for: error, input: input, seconds: seconds))
        }
    }

    static func message(for failure: LoopBack.Failure, input: String, seconds: Int) -> String {
        switch failure {
        case .silence:
            "no clock came back at \(input) in \(seconds) s; check the cable, and that the device passes on its input"
        case .ambiguity(let returned):
            "the delay is not clear: the \(returned) ticks that came back at \(input) in \(seconds) s are too uneven to "
                + "match them to those sent, or come from the device's own clock; measure longer with "
                + "--seconds \(min(600, 6 * seconds)), or judge by ear"
        }
    }

    /// The gateway's port that carries an output.
    private static func port(
        of output: Status.Output, _ control: SequencerControl, _ ports: [PortDescription]
    ) throws(Failure) -> PortAddress {
        if let port = control.port(of: output, among: ports) { return port }
        throw Failure(
            .unavailable,
            "\(output.name) has no sequencer port on this machine; run this on the gateway's machine, for an output that "
                + "'tactus ports' lists")
    }
}
