import ALSASequencer
import ArgumentParser
import BeatTime
import ClockMeter

struct MonitorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Measure any MIDI clock: tempo, jitter, drift, lost and doubled ticks, transport.",
        discussion: """
            Without a port it creates one, 'Tactus Monitor:Clock', to which you can subscribe any clock. It measures \
            until the time is up or you press Ctrl-C. Jitter is how far ticks are from the straight line through the \
            four beats around them, by the kernel's time stamps. Drift is relative to this machine's clock, or with \
            sound to the sound card's.

            EXAMPLES
              tactus monitor TR-8S                       what comes from a device
              tactus monitor Clock --seconds 60          our own gateway's clock, for a minute
              tactus monitor hw:1,0                      a raw device, past the sequencer
              tactus monitor raw:/dev/ttyAMA0            a serial line, stamped when it is read
              tactus monitor TR-8S --seconds 300 --report tr-8s.html
              tactus monitor TR-8S --seconds 10 --json | jq .tempo.beatsPerMinute
              tactus monitor drums.wav --as clicks       a recording of sounds on the beat
              tactus monitor take.flac --as midi         a recording of a MIDI cable
              tactus monitor both.wav --as clicks --channel 1 --against 2
              tactus monitor pcm:hw:1 --as clicks        what a sound card hears
            """)

    @Argument(
        help: ArgumentHelp(
            "A port as 'tactus ports' lists it, hw:CARD,DEVICE, raw:PATH[@BAUD], a recording such as drums.wav, or pcm:DEVICE for "
                + "a sound card. "
                + "(default: a port of its own)",
            valueName: "port"), completion: .sendingPort(),
        transform: MonitorSource.init(argument:))
    var source: MonitorSource = .port(.own)

    @Option(
        help: ArgumentHelp("How long to measure, 1 to 1000000. (default: until Ctrl-C)", valueName: "seconds"))
    var seconds: Int?

    @Option(
        help: ArgumentHelp(
            "The tempo the clock should have, to compute its drift. (default: the nearest round one)", valueName: "bpm"),
        transform: Tempo.init(argument:))
    var tempo: Tempo?

    @Option(
        help: ArgumentHelp(
            "A folder, or a file that ends in .html, .svg or .json, to keep the figures and a plot in.",
            valueName: "path"),
        transform: MonitorReport.Place.init(argument:))
    var report: MonitorReport.Place?

    @Option(name: .customLong("as"), help: "What the recording or the sound card's input contains: clicks or midi.")
    var kind: SoundKind?

    @Option(help: ArgumentHelp("Which channel of the sound to measure. (default: 1)", valueName: "number"))
    var channel: Int?

    @Option(help: ArgumentHelp("The channel of the sound to compare it with.", valueName: "number"))
    var against: Int?

    @Flag(help: "Print the figures as JSON when measuring has ended, and nothing else.")
    var json = false

    func validate() throws {
        guard seconds.map((1...1_000_000).contains) ?? true else {
            throw ValidationError("--seconds is a whole number from 1 to 1000000")
        }
        let sound: String
        switch source {
        case .port:
            guard kind == nil, channel == nil, against == nil else {
                throw ValidationError(
                    "--as, --channel and --against are for pcm:DEVICE and for recordings, whose names end in .wav, "
                        + ".flac, .aiff and such")
            }
            return
        case .recording(let path): sound = "\(path) is a recording of"
        case .sound(let device): sound = "\(device) hears"
        }
        guard kind != nil else {
            throw ValidationError("say what \(sound): --as clicks (sounds on the beat) or --as midi (a MIDI cable)")
        }
        try checkChannels(channel, against: against)
    }

    func run() async throws {
        switch source {
        case .port(let port): try await measure(port)
        case .recording(let path): if let kind { try measure(path, as: kind) }
        case .sound(let device): if let kind { try await listen(to: device, as: kind) }
        }
    }

    private func measure(_ port: MonitoredPort) async throws {
        let stop = try StopRequest()
        var watch = try MonitorWatch(port)
        try await show(until: stop) {
            watch.look()
            let figures = watch.figures(nominal: tempo)
            return watch.heard.end == nil ? (figures, watch.name, watch.hint) : nil
        }
        watch.end()
        let figures = watch.figures(nominal: tempo)
        try tell(MonitorReport(name: watch.name, stamps: watch.hasKernelStamps ? .kernel : .program, figures: figures))
        if let gone = watch.heard.end { throw Failure(.unavailable, "\(watch.name) is gone: \(gone.reason)") }
        guard figures.ticks.received > 0 else {
            throw Failure(
                .unavailable, "no clock came from \(watch.name); check its cable, and that it sends a clock")
        }
    }

    private func measure(_ path: String, as kind: SoundKind) throws {
        let stop = try StopRequest()
        let monitor = RecordingMonitor(
            path: path, kind: kind, channel: channel ?? 1, against: against, seconds: seconds)
        let result = try monitor.report(tempo: tempo) { stop.isRequested }
        try tell(result)
        if let trouble = result.nothingHeard { throw Failure(.unavailable, trouble) }
    }

    private func listen(to device: String, as kind: SoundKind) async throws {
        let stop = try StopRequest()
        ALSAComplaints.capture { _ in }  // libasound's own message is not needed; the error says the same
        let monitor = try CaptureMonitor(device: device, kind: kind, channel: channel ?? 1, against: against)
        try await show(until: stop) {
            let figures = monitor.figures(nominal: tempo) ?? SoundMeter(start: HostTime(microseconds: 0)).figures()
            return monitor.problem == nil ? (figures, monitor.name, "") : nil
        }
        let meters = try monitor.stop()
        let result = MonitorReport(
            name: monitor.name, stamps: .soundCard, figures: meters.figures(nominal: tempo), recording: meters.sound)
        try tell(result)
        if let problem = monitor.problem { throw Failure(problem) }
        if let trouble = result.nothingHeard { throw Failure(.unavailable, trouble) }
    }

    /// Shows figures until the time is up, the user stops it, or the source ends.
    ///
    /// - Parameters:
    ///   - stop: the user's request to stop.
    ///   - look: returns figures, a name and a hint; nil once the source has ended.
    /// - Throws: what `look` throws.
    private func show(
        until stop: StopRequest, _ look: () throws -> (figures: ClockFigures, name: String, hint: String)?
    ) async throws {
        var view = MonitorView(isQuiet: json, end: seconds == nil ? "Ctrl-C ends it" : "")
        let end = seconds.map { ContinuousClock.now.advanced(by: .seconds($0)) }
        while !stop.isRequested, end.map({ ContinuousClock.now < $0 }) ?? true {
            try? await Task.sleep(for: .milliseconds(100))
            guard let now = try look() else { return }
            view.show(now.figures, of: now.name, hint: now.hint)
        }
    }

    private func tell(_ result: MonitorReport) throws {
        print(try json ? result.json : MonitorText.result(result).joined(separator: "\n"))
        guard let report else { return }
        let files = try result.write(to: report)
        if !json { print("kept in \(files.joined(separator: ", "))") }
    }
}

/// Checks the options for the channels of a recording or a sound card, of which the first is 1 by default.
func checkChannels(_ channel: Int?, against other: Int?) throws {
    guard (1...256).contains(channel ?? 1), (1...256).contains(other ?? 1), channel ?? 1 != other else {
        throw ValidationError("--channel and --against must be two different channels from 1 to 256")
    }
}
