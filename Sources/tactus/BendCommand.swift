import ArgumentParser
import Gateway
import Glibc
import MIDIClock

struct BendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bend", abstract: "Run a device, a group or all a little faster or slower for a while.",
        usage: "tactus bend <percent> [<output>] [--for <seconds>] [--url <url>] [--token-file <file>] [--json]",
        discussion: """
            Afterwards the device returns to its place at the same rate, at least at 1 %. It is shifted by at most half a \
            second, and the session does not change. It is let go within a second when this command ends or the network fails.

            EXAMPLES
              tactus bend 4 tr-8s            four percent faster, until Ctrl-C
              tactus bend -2.5 --for 1.5     everything slower for a second and a half
            """)

    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp(
            "How much faster, \(CommandRange.bend.words), negative for slower; then the output or group, unless you mean all.",
            valueName: "percent"), completion: .output)
    var words: [String] = []
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "For how many seconds, \(CommandRange.bendSeconds.numbers). (default: until Ctrl-C)", valueName: "seconds"))
    var time: Double?
    @OptionGroup var remote: RemoteOptions

    /// Time between signs that it is still held; several of them may get lost.
    private static let pause = Duration.milliseconds(300)

    func validate() throws {
        _ = try parts()
        guard time.map(CommandRange.bendSeconds.contains) != false else {
            throw ValidationError("--for takes \(CommandRange.bendSeconds.words)")
        }
    }

    private func parts() throws -> (percent: Double, output: String?) {
        let words = try withoutOptions(words)
        guard (1...2).contains(words.count), let percent = signedDecimal(words[0]),
            CommandRange.bend.contains(percent)
        else {
            throw ValidationError("give \(CommandRange.bend.words), and one output or group at most, such as: 4 tr-8s")
        }
        return (percent, words.dropFirst().first)
    }

    func run() async throws {
        let (percent, output) = try parts()
        let (clock, client) = (ContinuousClock(), try remote.client)
        let end = time.map { clock.now.advanced(by: .seconds($0)) }
        try await remote.give(.bend(output: output, percent: percent, for: Command.bendTime)) { _ in
            let speed = percent == 0 ? "goes back to its place" : percent > 0 ? "runs faster" : "runs slower"
            return
                "\(output ?? "every device") \(speed)\(end == nil && percent != 0 ? "; Ctrl-C lets go within a second" : "")"
        }
        guard percent != 0 else { return }
        fflush(nil)  // so that the reader of a pipe gets the line at once
        while end.map({ clock.now < $0 }) != false {
            let next = clock.now.advanced(by: Self.pause)
            try await clock.sleep(until: min(next, end ?? next))
            guard end.map({ clock.now < $0 }) != false else { break }
            _ = try await client.give(.bend(output: output, percent: percent, for: Command.bendTime))
        }
        _ = try await client.give(.bend(output: output, percent: 0, for: Command.bendTime))
    }
}
