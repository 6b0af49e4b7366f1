import ArgumentParser
import CCommit
import Essentials
import GatewayStatus
import Glibc

@main
struct Tactus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tactus",
        abstract: "Plays drum machines, grooveboxes and synths in time with Ableton Link.",
        discussion: """
            Start the gateway with 'tactus run' and leave it running; the other commands talk to it. It takes part in \
            the Link session of your network and sends MIDI clock, Start and Stop in phase with it.

            EXAMPLES
              tactus run       start the gateway; Ctrl-C ends it
              tactus status    in another terminal: who leads, the tempo, the outputs
              tactus watch     the same, live, with keys to play
              tactus play
              tactus tempo +1
              tactus doctor    what keeps this machine from a precise clock
            """,
        version: version,
        subcommands: [
            Run.self, StatusCommand.self, WatchCommand.self, PeersCommand.self, LinkCommand.self,
            StartStopSyncCommand.self, PlayCommand.self, StopCommand.self, TempoCommand.self, TapCommand.self,
            QuantumCommand.self, FollowCommand.self, NudgeCommand.self, RealignCommand.self, MuteCommand.self,
            UnmuteCommand.self, BendCommand.self, UndoCommand.self, ReloadCommand.self, LearnCommand.self,
            CalibrateCommand.self,
            MonitorCommand.self, PortsCommand.self, OutputTestCommand.self, ProfilesCommand.self, ConfigCommand.self,
            DoctorCommand.self,
            ReportCommand.self,
        ])

    /// The version, and in brackets the commit if it is known.
    static var version: String {
        let commit = String(cString: CCommit.commit())
        return commit.isEmpty ? Status.version : "\(Status.version) (\(commit))"
    }

    static func main() async {
        Descriptors.openClosedStreams()
        do {
            // Before anything else: from here on no signal leaves machines playing.
            let isRun = CommandLine.arguments.dropFirst().first == "run"
            let lacksRoom = isRun && !Descriptors.areAtLeast(Run.leastDescriptors)
            if isRun, !lacksRoom { _ = RunSignals.taken }
            try requireCommand(CommandLine.arguments.dropFirst())
            // A shell that asks for completions may be answered by the gateway; otherwise nothing may wait yet.
            let completes = CommandLine.arguments.dropFirst().first == "---completion"
            var command = completes ? try await asyncParseAsRoot() : try parseAsRoot()
            // Now, because without descriptors the runtime crashes at its first wait.
            if lacksRoom, let run = command as? Run { _ = try run.plan() }
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            // A reader that closes early is no problem.
            if fflush(nil) != 0, errno != EPIPE {
                throw Failure(.system, "the result cannot be written: \(String(cString: strerror(errno)))")
            }
        } catch {
            let ending = Ending(error, isJSON: CommandLine.arguments.contains("--json"))
            write("\(ending.text)\n", to: ending.isResult ? STDOUT_FILENO : STDERR_FILENO)
            Glibc.exit(ending.exitCode)
        }
    }
}
