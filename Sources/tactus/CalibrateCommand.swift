import Arbiter
import ArgumentParser
import Foundation
import MIDIClock

struct CalibrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate",
        abstract: "Measure how long a device or a cable takes, and have the output send so much earlier.",
        discussion: """
            The clock of the output must come back at --input: by a cable, or by a device that passes on what it hears. \
            What is measured is the way out and back; a device that is heard only has its way out, so judge by ear, too.

            EXAMPLES
              tactus calibrate tr-8s --input UM-ONE           measure for ten seconds
              tactus calibrate tr-8s --input UM-ONE --save    and keep the offset in your own profile
            """)

    @Argument(help: "The output as 'tactus status' names it.") var output: String

    @Option(
        help: ArgumentHelp("The port at which its clock comes back, as 'tactus ports' lists it.", valueName: "port"))
    var input: String

    @Option(help: ArgumentHelp("How long to measure, 1 to 600. (default: 10)", valueName: "seconds"))
    var seconds = 10

    @Flag(help: "Have the output send earlier from now on, and keep that in a profile of your own.")
    var save = false

    @OptionGroup var remote: RemoteOptions

    func validate() throws {
        guard (1...600).contains(seconds) else { throw ValidationError("--seconds is a whole number from 1 to 600") }
    }

    func run() async throws {
        let target = try wanted(in: try await remote.status())
        let way = try ClockLoop(of: target, input: input)
        let measured = try way.measured(in: await way.listen(seconds: seconds), seconds: seconds)
        let offset = Self.offset(for: measured)
        try show(measured, of: target, offset: offset)
        guard save else { return }
        try await remote.adjust(target.id, #"{"offsetMilliseconds":\#(offset)}"#)
        let path = try OwnProfile(for: target, recognisedBy: way.device).keep(offset: offset)
        if !remote.json { print("kept in \(path); 'tactus reload' reads it") }
    }

    private func wanted(in status: Status) throws -> Status.Output {
        let wanted = output.lowercased()
        guard let target = status.outputs.first(where: { $0.id == wanted || $0.name.lowercased() == wanted }) else {
            let known = status.outputs.map(\.id).joined(separator: ", ")
            throw Failure(.unavailable, "no output is called \(output); there are: \(known)")
        }
        return target
    }

    private func show(_ measured: LoopBack, of output: Status.Output, offset: Double) throws {
        if remote.json {
            print(try Result(measured, offset: offset).json)
        } else {
            print(Self.lines(measured, of: output.name, offset: offset).joined(separator: "\n").withoutControls)
        }
    }

    /// Milliseconds, to a hundredth, by which to send earlier.
    static func offset(for measured: LoopBack) -> Double { -(Double(measured.median) / 10).rounded() / 100 }

    static func lines(_ measured: LoopBack, of name: String, offset: Double) -> [String] {
        func milliseconds(_ value: Double) -> String { String(format: "%.2f ms", value / 1_000) }
        let range = measured.range
        return [
            "\(name): out and back in \(milliseconds(Double(measured.median)))",
            "spread: \(milliseconds(Double(range.lowerBound))) to \(milliseconds(Double(range.upperBound))), standard "
                + "deviation \(milliseconds(measured.spread))",
            "ticks: \(measured.returned) of \(measured.sent) came back",
            "to be on the beat there, its offset is \(String(format: "%.2f", offset)) ms",
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

        var json: String {
            get throws {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys]
                return String(decoding: try encoder.encode(self), as: UTF8.self)
            }
        }
    }
}
