import ALSASequencer
import ArgumentParser
import BeatTime
import ConfigurationFiles
import Essentials
import Gateway
import GatewayStatus
import MIDIClock

struct CalibrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate",
        abstract: "Measure how long a device or a cable takes, and have the output send so much earlier.",
        discussion: """
            The clock of the output must come back at --input: by a cable, or by a device that passes on what it hears. \
            What is measured is the way out and back; a device that is heard only has its way out, so judge by ear, too.

            Meanwhile the output's ticks leave up to 1 % of a tick early or late, each by chance, so that each is known \
            again when it comes back. A device that makes a clock of its own instead, or scatters it too much, is told \
            from one that passes it on: then nothing is kept.

            EXAMPLES
              tactus calibrate tr-8s --input UM-ONE           measure for ten seconds
              tactus calibrate tr-8s --input UM-ONE --save    and keep the offset in your own profile
            """)

    @Argument(help: "The output as 'tactus status' names it, or a part of its name.") var output: String

    @Option(
        help: ArgumentHelp("The port at which its clock comes back, as 'tactus ports' lists it.", valueName: "port"))
    var input: String

    @Option(help: ArgumentHelp("How long to measure, 1 to 600.", valueName: "seconds"))
    var seconds = 10

    @Flag(help: "Have the output send earlier from now on, and keep that in a profile of your own.")
    var save = false

    @OptionGroup var remote: RemoteOptions

    func validate() throws {
        guard (1...600).contains(seconds) else { throw ValidationError("--seconds is a whole number from 1 to 600") }
    }

    func run() async throws {
        let target = try target(among: await remote.status().outputs)
        let (measured, device) = try await measure(target)
        let offset = Self.offset(for: measured)
        try show(measured, of: target, offset: offset)
        guard save else { return }
        _ = try await remote.adjust(target.id, #"{"offsetMilliseconds":\#(offset)}"#)
        try keep(offset, for: target, recognisedBy: device)
    }

    private func target(among outputs: [Status.Output]) throws -> Status.Output {
        do throws(UnclearName) {
            return try NameMatch.resolve(output, among: outputs)
        } catch {
            throw Failure(.refused, error.description)
        }
    }

    private func show(_ measured: LoopBack, of target: Status.Output, offset: Double) throws {
        if remote.json {
            print(try JSON.text(Result(measured, offset: offset)))
        } else {
            print(Self.lines(measured, of: target.name, offset: offset).joined(separator: "\n").withoutControls)
        }
    }

    private func keep(_ offset: Double, for target: Status.Output, recognisedBy device: String?) throws {
        let path = try OwnProfile(for: target, recognisedBy: device).keep(offset: offset)
        if !remote.json { print("kept in \(path); 'tactus reload' reads it") }
    }

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
            "to be on the beat there, its offset is \(fixed(offset, 2)) ms",
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

    /// Listens to what the output sends and to what comes back, both stamped by the kernel's one clock.
    private func measure(_ output: Status.Output) async throws -> (LoopBack, device: String?) {
        let client = try ListeningClient(name: "Tactus Calibrate", portName: "Calibrate")
        let ports = client.control.ports()
        let source = try ListeningClient.sender(input, among: ports)
        guard source.clientName != "Tactus" else {
            throw Failure(
                .unavailable, "\(input) is a port of the gateway's own; name the one where its clock comes back")
        }
        let sender = try Self.port(of: output, client.control, ports)
        for port in [sender, source.address] { try client.hear(port) }
        _ = try await remote.adjust(output.id, #"{"markSeconds":\#(seconds)}"#)
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
        do throws(LoopBack.Doubt) {
            let measured = try LoopBack(sent: ticks(from: sender), returned: ticks(from: source.address))
            return (measured, ports.first { $0.address.description == output.port && output.connected }?.portName)
        } catch {
            throw Failure(.unavailable, Self.words(error, input: input, seconds: seconds))
        }
    }

    static func words(_ doubt: LoopBack.Doubt, input: String, seconds: Int) -> String {
        switch doubt {
        case .silence:
            "no clock came back at \(input) in \(seconds) s; see that it is cabled, and that it passes on"
        case .ambiguity(let returned):
            "how long the way is cannot be told: what came back at \(input), \(returned) ticks in \(seconds) s, is too "
                + "uneven to show which of those sent they are, or is a clock of the device's own; measure longer with "
                + "--seconds \(min(600, 6 * seconds)), or judge by ear"
        }
    }

    /// The gateway's port that carries an output.
    private static func port(
        of output: Status.Output, _ control: SequencerControl, _ ports: [PortDescription]
    ) throws(Failure) -> PortAddress {
        let own = ports.filter { $0.clientName == "Tactus" && $0.portName == output.name }.map(\.address)
        // Where several gateways run, the one whose output drives this device.
        if let port = own.first(where: { control.subscribers(of: $0).map(\.description).contains(output.port ?? "") })
            ?? own.first
        {
            return port
        }
        throw Failure(.unavailable, "\(output.name) has no sequencer port of this machine; raw lines are not measured")
    }
}
