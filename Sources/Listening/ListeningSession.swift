internal import BeatTime
internal import Essentials
package import Gateway
package import GatewayStatus
internal import MIDIClock
package import SoundCalibration

/// Decides what a calibration by listening does next.
///
/// A value in virtual time. The caller tells it what has been heard, carries out the step that it returns, and tells it
/// how that went. Before it ends, it always puts back the output's clock and the transport. If that fails, the report's
/// problem says what could not be put back.
///
///     var session = ListeningSession(request, name: "TR-8S", at: .zero)
///     session.measure()
///     switch session.next(heard, at: now) { … }
package struct ListeningSession: Sendable {
    /// What has been heard so far.
    package struct Heard: Sendable {
        /// Whether the sound card is open.
        package var isOpen = false
        /// Number of blocks of sound received.
        package var blocks = 0
        /// Why no more sound will come; nil while the card works.
        package var problem: ListeningProblem?
        package var progress: SoundCalibration.Progress?
        package var outcome: Result<SoundResult, MeasurementFailure>?
        /// How much later the clock should be sent, in microseconds.
        package var shift = 0.0
        /// The gateway's outputs.
        package var outputs: [Status.Output] = []

        package init() {}
    }

    /// What the caller must do next.
    package enum Step: Hashable, Sendable {
        /// Wait a little, then ask again.
        case wait
        /// Receive from now on what the output sends, then call ``begin(_:at:)``.
        case hear
        /// Send the gateway a command, then call ``performed(_:)``.
        case perform(Command)
        /// Do nothing more; the session has ended.
        case end
    }

    /// The state of the gateway before the measuring starts.
    package struct Start: Sendable {
        package var outputs: [Status.Output]
        package var isPlaying: Bool
        /// The tempo in BPM.
        package var tempo: Double
        /// The length of a bar, in beats.
        package var quantum: Double

        package init(outputs: [Status.Output], isPlaying: Bool, tempo: Double, quantum: Double) {
            (self.outputs, self.isPlaying, self.tempo, self.quantum) = (outputs, isPlaying, tempo, quantum)
        }
    }

    private enum Phase: Hashable {
        case opening, level, measuring, restoring, over
    }

    private let request: ListeningRequest
    private let limits: Limits
    private var report: ListeningReport
    private var phase = Phase.opening
    private var wantsMeasuring = false
    private var isCancelled = false
    private var result: SoundResult?
    private var problem: ListeningProblem?
    /// When somebody last asked for the report.
    private var lastAsked: Duration
    private var sound: Growth
    private var beats: Growth
    /// The output and the transport before the session changed them; nil if nothing has to be put back.
    private var before: Before?
    /// Commands, to start the clock or to put things back, that the gateway has not carried out yet.
    private var commands: [Command] = []
    /// How far the clock has been moved, in microseconds.
    private var shift = 0.0
    /// What could not be put back, and what to do by hand.
    private var left: [String] = []

    private struct Before {
        var output: Status.Output
        /// How all outputs' clocks were set, the other machine's among them.
        var settings: [String: ClockSettings]
        var wasPlaying: Bool
        /// If no beat is sent for this long, none will be.
        var idleTimeout: Duration
    }

    /// What moves an output's ticks.
    private struct ClockSettings: Hashable {
        var (offset, swing): (Double, Double)
        var (multiply, divide): (Int, Int)

        static func of(_ outputs: [Status.Output]) -> [String: ClockSettings] {
            let settings = outputs.map { output in
                let offset = output.offsetMilliseconds
                return (
                    output.id,
                    ClockSettings(
                        offset: offset, swing: output.swing, multiply: output.multiply, divide: output.divide)
                )
            }
            return Dictionary(settings) { first, _ in first }
        }
    }

    /// A count that should grow, and since when it has not.
    private struct Growth {
        var count = 0
        var since: Duration

        /// Updates the count, and returns how long it has not grown.
        mutating func wait(beyond now: Int, at time: Duration) -> Duration {
            if now != count { (count, since) = (now, time) }
            return time - since
        }
    }

    /// How long a session waits.
    package struct Limits: Sendable {
        /// If nobody asks for the report for this long, the session ends.
        package var lease = Duration.seconds(10)
        /// If an open card delivers no samples for this long, it does not work.
        package var silence = Duration.seconds(5)
        /// If a card is not open after this long, it does not work.
        package var opening = Duration.seconds(20)

        package init() {}
    }

    /// Largest offset of the output, in milliseconds.
    ///
    /// The clock is moved later by up to 7 ms, and offset and move together must not exceed 500 ms.
    private static let room = 490.0

    /// Whether the session has ended.
    package var isOver: Bool { report.state.isLast }

    /// Creates a session that has done nothing.
    ///
    /// - Parameters:
    ///   - request: what to listen to.
    ///   - id: the session's ID in reports.
    ///   - name: the output's name.
    ///   - limits: how long the session waits.
    ///   - now: the time, on any clock; all other times must be on the same one.
    package init(
        _ request: ListeningRequest, id: String, name: String, limits: Limits = Limits(), at now: Duration
    ) {
        (self.request, self.limits) = (request, limits)
        report = ListeningReport(id: id, name: name, request, state: .opening)
        lastAsked = now
        (sound, beats) = (Growth(since: now), Growth(since: now))
    }

    /// Notes that somebody still watches the session.
    ///
    /// - Returns: the session's state.
    package mutating func asked(at now: Duration) -> ListeningReport {
        lastAsked = now
        return report
    }

    /// Notes that the level is right, so that the measuring may start.
    package mutating func measure() { wantsMeasuring = true }

    /// Notes that the session should end.
    package mutating func cancel() { isCancelled = true }

    /// Adds to the report what has been saved.
    package mutating func saved(_ saved: ListeningReport.Saved) { report.saved = saved }

    /// The next step.
    ///
    /// - Parameters:
    ///   - heard: what has been heard so far.
    ///   - now: the time.
    /// - Returns: what the caller must do.
    package mutating func next(_ heard: Heard, at now: Duration) -> Step {
        if let progress = heard.progress { report.take(progress) }
        switch phase {
        case .opening, .level, .measuring:
            do throws(ListeningProblem) {
                try check(heard, at: now)
            } catch {
                finish(.failure(error))
                return next(heard, at: now)
            }
            return phase == .level && wantsMeasuring ? .hear : phase == .measuring ? follow(heard) : .wait
        case .restoring:
            guard let command = commands.first else {
                end()
                return .end
            }
            return .perform(command)
        case .over: return .end
        }
    }

    /// Throws if the session cannot go on; otherwise notes an open card or a result.
    private mutating func check(_ heard: Heard, at now: Duration) throws(ListeningProblem) {
        guard !isCancelled else { throw ListeningProblem(.cancelled, "stopped before there was a result") }
        if let problem = heard.problem { throw problem }
        guard now - lastAsked < limits.lease else {
            throw ListeningProblem(.cancelled, "stopped, because nobody was watching it")
        }
        let wait = sound.wait(beyond: heard.blocks, at: now)
        guard wait < (heard.isOpen ? limits.silence : limits.opening) else { throw .noSound(request.device) }
        if phase == .opening, heard.isOpen {
            (phase, sound.since) = (.level, now)
            report.state = .level
        }
        guard phase == .measuring, let before else { return }
        if case .success(let result) = heard.outcome { return finish(.success(result)) }
        if case .failure(let failure) = heard.outcome {
            let message = failure.message(for: report.name, channel: request.channel, against: request.against)
            throw ListeningProblem(.unavailable, message)
        }
        guard ClockSettings.of(heard.outputs) == before.settings else {
            throw ListeningProblem(
                .cancelled,
                "an output was changed during the measurement; leave offset, swing, multiply and divide of all outputs "
                    + "alone until the result is there")
        }
        guard beats.wait(beyond: report.beats, at: now) < before.idleTimeout else {
            throw ListeningProblem(
                .unavailable,
                "\(report.name) gets no beat; check that the gateway plays. An output with 'start: none' cannot be "
                    + "calibrated by listening, because nothing says which tick is a beat")
        }
    }

    /// The next step while the delay is measured.
    private mutating func follow(_ heard: Heard) -> Step {
        if let progress = heard.progress {
            report.state =
                switch progress.step {
                case .waiting: .waiting
                case .measuring: .measuring
                case .checking: .checking
                }
        }
        if let command = commands.first { return .perform(command) }
        guard heard.shift != shift else { return .wait }
        shift = heard.shift
        return .perform(move(by: shift / 1_000))
    }

    /// The command that moves the clock.
    ///
    /// The gateway does not save the move: if it crashes, it comes back with the offset as it was.
    private func move(by milliseconds: Double) -> Command {
        .adjust(output: request.output, OutputAdjustment(shift: milliseconds))
    }

    /// Starts the song, now that the clock is received.
    ///
    /// If the song already plays, only this output starts it again, at the next bar.
    ///
    /// - Parameters:
    ///   - outcome: the gateway's state, or why the clock cannot be received.
    ///   - now: the time.
    package mutating func begin(_ outcome: Result<Start, ListeningProblem>, at now: Duration) {
        do throws(ListeningProblem) {
            let start = try outcome.get()
            let output = try fit(start.outputs.first { $0.id == request.output })
            // The first beat may be that of a long bar.
            let wait = (start.quantum + 4) * 60 / max(start.tempo, 1)
            before = Before(
                output: output, settings: ClockSettings.of(start.outputs), wasPlaying: start.isPlaying,
                idleTimeout: .seconds(10) + .seconds(wait))
            commands = [start.isPlaying ? .realign(output: output.id, .atBar) : .setPlaying(true)]
            (phase, report.state, beats.since) = (.measuring, .waiting, now)
        } catch {
            finish(.failure(error))
        }
    }

    /// Returns an output if it can be measured, and throws why not otherwise.
    private func fit(_ output: Status.Output?) throws(ListeningProblem) -> Status.Output {
        guard let output else {
            throw ListeningProblem(.refused, "\(report.name) is no longer an output; 'tactus status' lists them")
        }
        guard output.timeCode == nil else {
            throw ListeningProblem(
                .refused, "\(output.name) sends time code, which makes no sound; measure an output that sends a clock")
        }
        guard output.multiply == 1, output.divide == 1 else {
            throw ListeningProblem(
                .refused,
                "\(output.name) gets \(output.multiply == 1 ? "fewer" : "more") than 24 ticks a beat, so its ticks do "
                    + "not say where a beat is; set multiply and divide to 1 for the measurement")
        }
        guard output.offsetMilliseconds <= Self.room else {
            throw ListeningProblem(
                .refused,
                "\(output.name) has an offset of \(fixed(output.offsetMilliseconds, 1)) ms, and the clock cannot be "
                    + "moved later for the check; set an offset of at most \(fixed(Self.room, 0)) ms first")
        }
        return output
    }

    /// Notes how a command went.
    package mutating func performed(_ outcome: Result<Void, ListeningProblem>) {
        let command = commands.isEmpty ? nil : commands.removeFirst()
        guard case .failure(let problem) = outcome else { return }
        if phase == .measuring {
            // If the command to start was refused, nothing was changed and nothing has to be put back.
            if command != nil { before = nil }
            return finish(.failure(problem))
        }
        guard phase == .restoring, let command, let before else { return }
        if case .adjust = command {
            left.append(
                "the clock of \(before.output.name) could not be put back (\(problem.message)): calibrate again, or "
                    + "restart the gateway")
        } else {
            left.append("the transport could not be stopped (\(problem.message)): use 'tactus stop'")
        }
    }

    /// Ends the session with an outcome, after everything that it changed has been put back.
    private mutating func finish(_ outcome: Result<SoundResult, ListeningProblem>) {
        switch outcome {
        case .success(let result): self.result = result
        case .failure(let problem): self.problem = problem
        }
        guard phase == .measuring, let before else { return end() }
        commands = [move(by: 0)] + (before.wasPlaying ? [] : [.setPlaying(false)])
        (phase, report.state) = (.restoring, .restoring)
    }

    private mutating func end() {
        phase = .over
        if let problem {
            report.problem = ListeningProblem(problem.kind, ([problem.message] + left).joined(separator: "; and "))
        } else if let result {
            let figures = ListeningFigures(result)
            report.result = figures
            if !left.isEmpty {
                let offset = "the offset that was found is \(fixed(figures.offsetMilliseconds, 2)) ms"
                report.problem = ListeningProblem(.unavailable, ([offset] + left).joined(separator: "; but "))
            }
        }
        report.state = report.problem == nil ? .done : .failed
    }
}
