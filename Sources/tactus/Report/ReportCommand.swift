import ArgumentParser
import ConfigurationFiles
import Essentials
import GatewayStatus
import Glibc

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write a report for an issue: this computer, the gateway, and measured figures.",
        discussion: """
            For a minute it measures, as 'tactus monitor' does, what the running gateway sends at each output. The report \
            also has what 'tactus doctor' finds, the gateway's counters, the computer, its system, and the USB devices for \
            MIDI and audio. Without a gateway it has the rest. While the song is stopped, some machines get no clock, so \
            play something.

            With a cable from an output back into an input, --loop measures what arrives there: the sequencer port of a \
            MIDI input, a raw device, a serial line, or a sound card whose jack the MIDI cable leads to.

            The report leaves out whatever names a person, a computer, an address, a file or a single device, so that you \
            can publish it. Read it before you do.

            EXAMPLES
              tactus report                              printed, to copy from
              tactus report --output report.md
              tactus report --seconds 2 --json | jq .machine
              tactus report --seconds 300 --loop UM-ONE  a cable back into UM-ONE
              tactus report --loop pcm:hw:1              into a sound card
            """)

    @Option(help: ArgumentHelp("How long to measure, 1 to 3600.", valueName: "seconds"))
    var seconds = 60

    @Option(
        help: ArgumentHelp(
            "Where a cable from an output comes back: a port as 'tactus ports' lists it, hw:CARD,DEVICE, raw:PATH[@BAUD], or "
                + "pcm:DEVICE for a sound card.",
            valueName: "port"), completion: .sendingPort(),
        transform: loopSource(argument:))
    var loop: MonitorSource?

    @Option(
        help: ArgumentHelp("A file for the report. (default: standard output)", valueName: "file"),
        completion: .file(), transform: ReportFile.init(argument:))
    var output: ReportFile?

    @OptionGroup var remote: RemoteOptions

    func validate() throws {
        guard (1...3_600).contains(seconds) else { throw ValidationError("--seconds is a whole number from 1 to 3600") }
        guard remote.url.isLoopback else {
            throw ValidationError("a report is about the computer that it is made on; run it where the gateway runs")
        }
    }

    func run() async throws {
        try output?.requireWritable()
        let (stop, tree) = (try StopRequest(), SystemTree(root: "/"))
        var sources = ReportSources(version: Tactus.version)
        (sources.machine, sources.devices) = (MachineDescription(tree), USBDevice.all(tree))
        sources.knownProfiles = Set(BuiltInProfile.all.map(\.id))
        sources.privateWords = PrivateWords(ofMachine: tree, devices: sources.devices)
        tell("examining this computer")
        // Before measuring, because it tries the sequencer's queue, too.
        sources.findings = DoctorCommand.findings()
        let before = try await statusIfAny()
        var measurement = try ReportMeasurement(before, loop: loop, tree)
        if before != nil || measurement.isMeasuring {
            try? await Task.sleep(for: Self.settling)
            // A sound card is opened meanwhile; other sources were before.
            if let problem = measurement.loopProblem { throw problem }
            measurement.beginAnew()
            await wait(until: stop) { measurement.look() }
        }
        let ports = measurement.end()
        do {
            let problem = measurement.loopProblem
            sources.loop = try measurement.endLoop(ProfileLibrary(adding: []))
            if let problem { complain("tactus: not all of the time was measured at the cable: \(problem.text)") }
        } catch {
            complain("tactus: nothing is known of the cable: \(error.text)")
        }
        if let before {
            let after = try? await remote.status()
            if after == nil { complain("tactus: the gateway has ended meanwhile") }
            sources.gateway = ReportSources.Gateway(before: before, after: after ?? before, ports: ports)
        }
        try hand(over: Report(sources))
    }

    /// Time between connecting to the outputs and measuring.
    private static let settling = Duration.seconds(1)

    /// The gateway's status; nil if none runs here.
    private func statusIfAny() async throws -> Status? {
        do {
            return try await remote.status()
        } catch let failure as Failure where failure.status == .unavailable && remote.url == .standard {
            complain("tactus: no gateway answers, so the report has no clock; start one with 'tactus run'")
            return nil
        }
    }

    private func wait(until stop: StopRequest, _ look: () -> Void) async {
        tell("measuring for \(seconds) s; Ctrl-C ends it earlier")
        let start = ContinuousClock.now
        var told = 0
        while !stop.isRequested {
            let passed = Int(start.duration(to: .now) / .seconds(1))
            guard passed < seconds else { return }
            if passed >= told + 10 {
                told = passed
                tell("\(seconds - passed) s left")
            }
            look()
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    private func hand(over report: Report) throws {
        let text = try remote.json ? JSON.text(report) : ReportText.markdown(report)
        guard let output else { return print(text) }
        try output.write("\(text)\n")
        if !remote.json { print("\(output.path) is written; read it before you publish it") }
    }

    /// Tells a person how far it is; a script needs no such lines.
    private func tell(_ text: String) { if isatty(STDERR_FILENO) == 1 { complain(text) } }
}

/// Reads where a loop cable ends.
private func loopSource(argument: String) throws(BadArgument) -> MonitorSource {
    let source = argument.hasPrefix("virtual:") ? nil : try MonitorSource(argument: argument)
    switch source {
    case .port, .sound: if let source { return source }
    case .recording, nil: break
    }
    throw BadArgument(
        "name the input at which the cable ends: a port as 'tactus ports' lists it, hw:CARD,DEVICE, raw:PATH or pcm:DEVICE"
    )
}

extension PrivateWords {
    /// The names of this machine and its user, and the serial numbers of devices.
    init(ofMachine tree: SystemTree, devices: [USBDevice]) {
        var names = [hostName()] + ["USER", "LOGNAME", "SUDO_USER"].compactMap(environment)
        names.append(Files.name(of: environment("HOME") ?? ""))
        names += Self.names(getpwuid(getuid())) + (environment("SUDO_USER").map { Self.names(getpwnam($0)) } ?? [])
        names += devices.compactMap { tree.line("sys/bus/usb/devices/\($0.place)/serial") }
        self.init(names)
    }

    /// A user's login and full name.
    private static func names(_ entry: UnsafeMutablePointer<passwd>?) -> [String] {
        guard let entry = entry?.pointee else { return [] }
        return [entry.pw_name, entry.pw_gecos].compactMap { $0.map { String(cString: $0) } }
    }
}
