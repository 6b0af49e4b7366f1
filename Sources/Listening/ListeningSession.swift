internal import BeatTime
internal import Essentials
package import Gateway
package import GatewayStatus
internal import MIDIClock
package import SoundCalibration

/// What a calibration by listening does next; a value in virtual time.
///
/// Whoever runs it tells it what is heard, carries out the step it names, and tells it how that went. However it ends,
/// the output's clock and the transport are put back before, or the problem says what could not be put back.
///
///     var session = ListeningSession(request, name: "TR-8S", at: .zero)
///     session.measure()
///     switch session.next(heard, at: now) { … }
package struct ListeningSession: Sendable {
    /// What is heard by now.
    package struct Heard: Sendable {
        /// Whether the sound card is open.
        package var isOpen = false
        /// Pieces of sound that came.
        package var blocks = 0
        /// Why no more sound will come.
        package var problem: ListeningProblem?
        package var progress: SoundCalibration.Progress?
        package var outcome: Result<SoundResult, SoundDoubt>?
        /// By how much the clock should leave later, in microseconds.
        package var shift = 0.0
        /// The gateway's outputs.
        package var outputs: [Status.Output] = []

        package init() {}
    }

    /// What to do next.
    package enum Step: Hashable, Sendable {
        case wait
        /// Hear what the output sends, then tell by ``begin(_:)``.
        case hear
        /// Give the gateway a command, then tell by ``performed(_:)``.
        case perform(Command)
        case end
    }

    /// What the gateway does before it begins.
    package struct Start: Sendable {
        package var outputs: [Status.Output]
        package var isPlaying: Bool
        /// In beats per minute.
        package var tempo: Double
        /// Beats of a bar.
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
    /// When somebody last asked how it stands.
    private var lastAsked: Duration
    private var sound: Growth
    private var beats: Growth
    /// The output and the transport as they were before.
    private var before: Before?
    /// What is still to be given to the gateway; the clock's movements besides.
    private var commands: [Command] = []
    /// By how much the clock has been moved, in microseconds.
    private var shift = 0.0
    /// What could not be put back, and what to do by hand.
    private var left: [String] = []

    private struct Before {
        var output: Status.Output
        /// How all outputs' clocks were set, the other machine's among them.
        var settings: [String: ClockSettings]
        var wasPlaying: Bool
        /// No beat for so long, and none will come.
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

        /// How long the count has not grown.
        mutating func wait(beyond now: Int, at time: Duration) -> Duration {
            if now != count { (count, since) = (now, time) }
            return time - since
        }
    }

    /// How long it waits.
    package struct Limits: Sendable {
        /// Nobody asks for so long, and it ends by itself.
        package var lease = Duration.seconds(10)
        /// No sound for so long, and the card does not work.
        package var silence = Duration.seconds(5)
        /// A card that takes longer to open does not work.
        package var opening = Duration.seconds(20)

        package init() {}
    }

    /// The clock is moved later by less, in milliseconds, which must be possible.
    private static let room = 490.0

    /// Whether it has ended.
    package var isOver: Bool { report.state.isLast }

    /// A session that has done nothing.
    ///
    /// - Parameters:
    ///   - request: what to listen to.
    ///   - id: by which others name it.
    ///   - name: of the output.
    ///   - limits: how long it waits.
    ///   - now: on any clock that the other times are on, too.
    package init(
        _ request: ListeningRequest, id: String, name: String, limits: Limits = Limits(), at now: Duration
    ) {
        (self.request, self.limits) = (request, limits)
        report = ListeningReport(id: id, name: name, request, state: .opening)
        lastAsked = now
        (sound, beats) = (Growth(since: now), Growth(since: now))
    }

    /// Takes in that somebody still waits for it.
    ///
    /// - Returns: how it stands.
    package mutating func asked(at now: Duration) -> ListeningReport {
        lastAsked = now
        return report
    }

    /// Takes in that the level is right: the clock may start.
    package mutating func measure() { wantsMeasuring = true }

    /// Takes in that it is to end.
    package mutating func cancel() { isCancelled = true }

    /// Takes in what has been saved of the result.
    package mutating func saved(_ saved: ListeningReport.Saved) { report.saved = saved }

    /// Says what to do next.
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

    /// Sees whether it can go on.
    private mutating func check(_ heard: Heard, at now: Duration) throws(ListeningProblem) {
        guard !isCancelled else { throw ListeningProblem(.cancelled, "stopped before there was a result") }
        if let problem = heard.problem { throw problem }
        guard now - lastAsked < limits.lease else {
            throw ListeningProblem(.cancelled, "stopped, since nobody watched it any more")
        }
        let wait = sound.wait(beyond: heard.blocks, at: now)
        guard wait < (heard.isOpen ? limits.silence : limits.opening) else { throw .noSound(request.device) }
        if phase == .opening, heard.isOpen {
            (phase, sound.since) = (.level, now)
            report.state = .level
        }
        guard phase == .measuring, let before else { return }
        if case .success(let result) = heard.outcome { return finish(.success(result)) }
        if case .failure(let doubt) = heard.outcome {
            let words = doubt.words(of: report.name, channel: request.channel, against: request.against)
            throw ListeningProblem(.unavailable, words)
        }
        guard ClockSettings.of(heard.outputs) == before.settings else {
            throw ListeningProblem(
                .cancelled,
                "an output was changed meanwhile; leave offset, swing, multiply and divide of all outputs alone until the "
                    + "result is there")
        }
        guard beats.wait(beyond: report.beats, at: now) < before.idleTimeout else {
            throw ListeningProblem(
                .unavailable,
                "\(report.name) is sent no beat; see that the gateway plays. A profile with 'start: none' cannot be "
                    + "calibrated by listening, since nothing says which tick is a beat")
        }
    }

    /// What to do while it listens.
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

    /// Moves the clock, which is not kept: a gateway that crashes meanwhile comes back with the offset as it was.
    private func move(by milliseconds: Double) -> Command {
        .adjust(output: request.output, OutputAdjustment(shift: milliseconds))
    }

    /// Takes in that the output's ticks are heard now, and has the song begin.
    ///
    /// - Parameters:
    ///   - outcome: what the gateway does; or why the ticks are not heard.
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

    /// The output, if it can be measured.
    private func fit(_ output: Status.Output?) throws(ListeningProblem) -> Status.Output {
        guard let output else {
            throw ListeningProblem(.refused, "\(report.name) is no output any more; see 'tactus status'")
        }
        guard output.multiply == 1, output.divide == 1 else {
            throw ListeningProblem(
                .refused,
                "\(output.name) is sent \(output.multiply == 1 ? "fewer" : "more") than 24 ticks a beat, so its beats "
                    + "cannot be told from its ticks; set multiply and divide to 1 meanwhile")
        }
        guard output.offsetMilliseconds <= Self.room else {
            throw ListeningProblem(
                .refused,
                "\(output.name) has an offset of \(fixed(output.offsetMilliseconds, 1)) ms, and the clock cannot be "
                    + "moved later for the check; set a smaller offset first, \(fixed(Self.room, 0)) ms at the most")
        }
        return output
    }

    /// Takes in how a command went.
    package mutating func performed(_ outcome: Result<Void, ListeningProblem>) {
        let command = commands.isEmpty ? nil : commands.removeFirst()
        guard case .failure(let problem) = outcome else { return }
        if phase == .measuring {
            // Nothing has begun yet, so there is nothing to put back.
            if command != nil { before = nil }
            return finish(.failure(problem))
        }
        guard phase == .restoring, let command, let before else { return }
        if case .adjust = command {
            left.append(
                "the clock of \(before.output.name) could not be put back (\(problem.message)): calibrate again, or "
                    + "start the gateway anew")
        } else {
            left.append("the transport could not be stopped (\(problem.message)): give 'tactus stop'")
        }
    }

    /// Ends it, and has put back first what was changed.
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
