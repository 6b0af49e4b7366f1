internal import AudioCapture
internal import Gateway
internal import GatewayStatus
internal import SoundCalibration
internal import Synchronization

/// Carries out a ``ListeningSession`` with a sound card and a gateway.
///
/// The sound is read and judged on a thread of its own, without real-time priority. Everything else, such as receiving
/// the clock and sending commands to the gateway, happens in a task. Nothing runs on the gateway's own threads.
final class ListeningRun: Sendable {
    let id: String
    private let request: ListeningRequest
    private let gateway: Gateway
    private let openCard: ListeningRoom.OpenCard
    private let session: Mutex<ListeningSession>
    private let sound: Sound
    private let began = ContinuousClock.now
    /// One task runs the session, the other then closes the card; nil when both have ended.
    private let tasks = Mutex<(following: Task<(any SoundInput)?, Never>, closing: Task<Void, Never>)?>(nil)

    /// Time between two steps of the session; a beat may last only 60 ms.
    private static let interval = Duration.milliseconds(30)
    /// Longest wait for the card to close, which is shorter than a client waits for an answer.
    ///
    /// A card that hangs for longer is left to its thread.
    private static let closing = Duration.seconds(2)

    /// The state that the sound card's thread updates.
    private final class Sound: Sendable {
        let request: ListeningRequest
        let state = Mutex((calibration: SoundCalibration?.none, blocks: 0, problem: ListeningProblem?.none))

        init(_ request: ListeningRequest) { self.request = request }

        func take(_ event: AudioCapture.Event) {
            state.withLock { state in
                switch event {
                case .opened(let sampleRate, _):
                    state.calibration = SoundCalibration(
                        sampleRate: Double(sampleRate), inputLatency: (request.inputLatency ?? 0) * 1_000,
                        isCompared: request.against != nil)
                case .sound(let block):
                    state.blocks += 1
                    state.calibration?.take(block)
                case .overrun: state.calibration?.lost()
                case .failed(let failure): state.problem = ListeningProblem(failure, of: request.device)
                }
            }
        }

        /// Passes new clock messages to the calibration, and returns what has been heard so far.
        func heard(_ clock: inout (any OutputClock)?) -> ListeningSession.Heard {
            state.withLock { state in
                var heard = ListeningSession.Heard()
                (heard.isOpen, heard.blocks, heard.problem) = (state.calibration != nil, state.blocks, state.problem)
                guard state.calibration != nil else { return heard }
                clock?.tell(&state.calibration!)  // it is not nil
                heard.progress = state.calibration?.progress
                (heard.outcome, heard.shift) = (state.calibration?.outcome, state.calibration?.shift ?? 0)
                return heard
            }
        }
    }

    init(
        _ request: ListeningRequest, id: String, name: String, _ gateway: Gateway,
        _ limits: ListeningSession.Limits, _ openCard: @escaping ListeningRoom.OpenCard
    ) {
        (self.id, self.request, self.gateway, self.openCard) = (id, request, gateway, openCard)
        session = Mutex(ListeningSession(request, id: id, name: name, limits: limits, at: .zero))
        sound = Sound(request)
        tasks.withLock { tasks in
            let following = Task { [self] in await run() }
            let closing = Task { [self] in
                await Self.close(await following.value)
                self.tasks.withLock { $0 = nil }
            }
            tasks = (following, closing)
        }
    }

    private var now: Duration { began.duration(to: .now) }

    /// Whether the clock has been put back and the sound card is closed.
    var isFinished: Bool { tasks.withLock { $0 == nil } }

    /// The state of the session; asking for it keeps the session alive.
    func report() -> ListeningReport { session.withLock { $0.asked(at: now) } }

    /// Whether the session has ended; unlike ``report()``, asking for this does not keep it alive.
    var isOver: Bool { session.withLock(\.isOver) }

    /// Makes the session start the clock and measure.
    func measure() { session.withLock { $0.measure() } }

    /// Adds to the report what has been saved.
    func saved(_ saved: ListeningReport.Saved) { session.withLock { $0.saved(saved) } }

    /// Ends the session; returns when the clock has been put back and the card is closed, or hangs.
    func cancel() async {
        session.withLock { $0.cancel() }
        await tasks.withLock { $0?.closing }?.value
    }

    /// Ends the session; returns when the clock has been put back, without waiting for the card.
    func putBack() async {
        session.withLock { $0.cancel() }
        _ = await tasks.withLock { $0?.following }?.value
    }

    private static func close(_ card: (any SoundInput)?) async {
        guard let card else { return }
        card.requestStop()
        let end = ContinuousClock.now + closing
        while !card.isClosed, ContinuousClock.now < end { try? await Task.sleep(for: interval) }
        if card.isClosed { card.stop() }
    }

    /// Runs the session until it has ended and the clock has been put back.
    ///
    /// - Returns: the card, which is still open; nil if its thread could not be started.
    private func run() async -> (any SoundInput)? {
        let card: any SoundInput
        do throws(ListeningProblem) {
            card = try openCard(request.device, request.channels) { [sound] in sound.take($0) }
        } catch {
            sound.state.withLock { $0.problem = error }
            var none: (any OutputClock)?
            _ = session.withLock { $0.next(sound.heard(&none), at: now) }
            return nil
        }
        var clock: (any OutputClock)?
        while true {
            var heard = sound.heard(&clock)
            if clock != nil { heard.outputs = gateway.status().outputs }
            switch session.withLock({ $0.next(heard, at: now) }) {
            case .wait: try? await Task.sleep(for: Self.interval)
            case .hear:
                let begun = hear(&clock)
                session.withLock { $0.begin(begun, at: now) }
            case .perform(let command):
                let outcome = await perform(command)
                session.withLock { $0.performed(outcome) }
            case .end: return card
            }
        }
    }

    private func hear(_ clock: inout (any OutputClock)?) -> Result<ListeningSession.Start, ListeningProblem> {
        let status = gateway.status()
        let output = status.outputs.first { $0.id == request.output }
        do throws(ListeningProblem) {
            clock = try output.map { output throws(ListeningProblem) in try self.clock(of: output) }
        } catch {
            return .failure(error)
        }
        sound.state.withLock { $0.calibration?.begin(offset: (output?.offsetMilliseconds ?? 0) * 1_000) }
        return .success(
            .init(outputs: status.outputs, isPlaying: status.playing, tempo: status.tempo, quantum: status.quantum))
    }

    private func clock(of output: Status.Output) throws(ListeningProblem) -> any OutputClock {
        guard gateway.isCardOutput(output.id) else { return try SentClock(of: output) }
        guard gateway.plan(ofCardOutput: output.id) != nil else {
            throw ListeningProblem(
                .unavailable, "the sound card of \(output.name) does not play; 'tactus status' says why")
        }
        return PlannedClock { [gateway] in gateway.plan(ofCardOutput: output.id) }
    }

    private func perform(_ command: Command) async -> Result<Void, ListeningProblem> {
        do throws(CommandError) {
            return .success(try await gateway.perform(command))
        } catch {
            return .failure(ListeningProblem(.refused, error.description))
        }
    }
}
