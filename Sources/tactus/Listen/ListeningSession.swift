import ALSASequencer
import AudioCapture
import BeatTime
import Essentials
import GatewayStatus
import Glibc
import MIDIClock
import RealTime
import SoundCalibration
import Synchronization

/// Calibrates an output by listening to its machine: has the gateway play, moves its clock, and hears what comes.
struct ListeningSession {
    let remote: RemoteOptions
    let output: Status.Output
    /// The sound card.
    let device: String
    /// Counted from 1.
    let channel: Int
    /// The channel to compare with.
    let against: Int?
    /// Milliseconds.
    let inputLatency: Double

    /// How often what came is looked at: a beat may be 60 ms.
    private static let interval = Duration.milliseconds(30)
    /// How long to wait for a beat: it may be the first of a long bar.
    private static let patience = Duration.seconds(40)
    /// No sound for so long, and the card does not work.
    private static let silence = Duration.seconds(5)
    /// The clock is moved later by less, in milliseconds, which must be possible.
    private static let room = 490.0

    /// What is heard; the thread that listens and the one that reads ticks share it.
    private final class Shared: Sendable {
        let state: Mutex<(calibration: SoundCalibration, blocks: Int, gone: ALSAError?)>

        init(_ calibration: SoundCalibration) { state = Mutex((calibration, 0, nil)) }

        func take(_ event: AudioCapture.Event) {
            state.withLock { state in
                switch event {
                case .sound(let sound):
                    state.blocks += 1
                    let stamp = sound.stamp.map { SoundBlock.Stamp(samples: $0.samples, microseconds: $0.microseconds) }
                    state.calibration.take(SoundBlock(channels: sound.channels, stamp: stamp))
                case .overrun: state.calibration.lost()
                case .gone(let error): state.gone = error
                }
            }
        }
    }

    /// Listens until there is a result.
    ///
    /// Whatever happens, the output's offset and the transport are put back, or it is told that they could not be.
    ///
    /// - Parameters:
    ///   - view: shows how far it has come.
    ///   - sender: the port at which the output sends.
    ///   - client: hears that port.
    /// - Returns: the result.
    /// - Throws: why there is no result, and what to do.
    func run(showing view: ListeningView, from sender: PortAddress, to client: ListeningClient) async throws
        -> SoundResult
    {
        try checkOutput()
        // A terminal that closes ends it in order, too, unless with nohup.
        let stop = try StopRequest(alsoOn: SignalSource.isIgnored(SIGHUP) ? [] : [SIGHUP])
        let isStopped = Mutex(false)
        let stopping = Task {
            await stop.wait()
            isStopped.withLock { $0 = true }
        }
        defer { stopping.cancel() }
        let capture = try Self.listen(device, channels: [channel] + (against.map { [$0] } ?? []))
        let shared = Shared(
            SoundCalibration(
                sampleRate: Double(capture.sampleRate), offset: output.offsetMilliseconds * 1_000,
                inputLatency: inputLatency * 1_000, isCompared: against != nil))
        try Self.start(capture) { event in shared.take(event) }
        defer { capture.stop() }
        try client.hear(sender)
        let wasPlaying = try await remote.status().playing
        let outcome: Result<SoundResult, any Error>
        do {
            if wasPlaying {
                _ = try await remote.client.ask("outputs/\(output.id)/realign", #"{"when":"bar"}"#)
            } else {
                _ = try await remote.client.ask("transport", #"{"playing":true}"#)
            }
            outcome = .success(try await follow(shared, client, view, from: sender) { isStopped.withLock { $0 } })
        } catch {
            outcome = .failure(error)
        }
        let left = await putBack(wasPlaying: wasPlaying)
        guard left.isEmpty else { throw Self.failure(left, after: outcome) }
        return try outcome.get()
    }

    private func checkOutput() throws(Failure) {
        guard output.multiply == 1, output.divide == 1 else {
            throw Failure(
                .refused,
                "\(output.name) is sent \(output.multiply == 1 ? "fewer" : "more") than 24 ticks a beat, so its beats "
                    + "cannot be told from its ticks; set multiply and divide to 1 meanwhile")
        }
        guard output.offsetMilliseconds <= Self.room else {
            throw Failure(
                .refused,
                "\(output.name) has an offset of \(fixed(output.offsetMilliseconds, 1)) ms, and to move its "
                    + "clock later is not possible; set it to 0 first")
        }
    }

    /// Puts offset and transport back, each whether the other can be or not.
    ///
    /// - Returns: what could not be put back, and what to do by hand.
    private func putBack(wasPlaying: Bool) async -> [String] {
        var left: [String] = []
        do {
            _ = try await remote.adjust(output.id, #"{"offsetMilliseconds":\#(output.offsetMilliseconds)}"#)
        } catch {
            left.append(
                "the offset of \(output.name) could not be put back (\(Self.reason(error))): set it to "
                    + "\(StatusText.decimals(output.offsetMilliseconds)) ms; 'tactus status' shows it, 'tactus nudge' "
                    + "moves it")
        }
        guard !wasPlaying else { return left }
        do {
            _ = try await remote.client.ask("transport", #"{"playing":false}"#)
        } catch {
            left.append("the transport could not be stopped (\(Self.reason(error))): give 'tactus stop'")
        }
        return left
    }

    /// What to say when something was not put back: what ended the session comes first.
    static func failure(_ left: [String], after outcome: Result<SoundResult, any Error>) -> Failure {
        switch outcome {
        case .success(let result):
            let offset = "to be on the beat the offset is \(fixed(ListeningText.offset(result), 2)) ms"
            return Failure(.unavailable, ([offset] + left).joined(separator: "; but "))
        case .failure(let error):
            let status = (error as? Failure)?.status ?? .unavailable
            return Failure(status, ([reason(error)] + left).joined(separator: "; and "))
        }
    }

    private static func reason(_ error: any Error) -> String { (error as? Failure)?.text ?? "\(error)" }

    private func follow(
        _ shared: Shared, _ client: ListeningClient, _ view: ListeningView, from sender: PortAddress,
        isStopped: () -> Bool
    ) async throws -> SoundResult {
        var view = view
        var (events, shift) = ([ClockInputEvent](), 0.0)
        var (sound, beat) = (Newest(), Newest())
        while true {
            try? await Task.sleep(for: Self.interval)
            if isStopped() { throw Failure(.unavailable, "stopped before there was a result") }
            client.input.take(into: &events)
            let came = events
            events.removeAll(keepingCapacity: true)
            let state = shared.state.withLock { state in
                for event in came { state.calibration.take(event, from: sender) }
                return state
            }
            let calibration = state.calibration
            if let gone = state.gone { throw Failure(.unavailable, "\(device) is gone: \(gone)") }
            guard sound.wait(beyond: state.blocks) < Self.silence else {
                throw Failure(.unavailable, "\(device) gives no sound; see that no other program holds it")
            }
            switch calibration.outcome {
            case .success(let result)?: return result
            case .failure(let doubt)?:
                throw Failure(
                    .unavailable, ListeningText.words(doubt, of: output.name, channel: channel, against: against))
            case nil: break
            }
            guard beat.wait(beyond: calibration.progress.beats) < Self.patience else {
                throw Failure(
                    .unavailable,
                    "\(output.name) is sent no beat; see that the gateway plays. A profile with 'start: none' cannot be "
                        + "calibrated by listening, since nothing says which tick is a beat")
            }
            view.show(calibration.progress)
            guard calibration.shift != shift else { continue }
            shift = calibration.shift
            let offset = output.offsetMilliseconds + shift / 1_000
            _ = try await remote.adjust(output.id, #"{"offsetMilliseconds":\#(offset)}"#)
        }
    }

    /// A count that should grow, and since when it has not.
    private struct Newest {
        private var count = 0
        private var since = ContinuousClock.now

        /// How long the count has not grown.
        mutating func wait(beyond now: Int) -> Duration {
            if now != count { (count, since) = (now, .now) }
            return since.duration(to: .now)
        }
    }

    /// Opens a sound card.
    ///
    /// - Throws: why it cannot be listened to, and what to do.
    static func listen(_ device: String, channels: [Int]) throws(Failure) -> AudioCapture {
        ALSAComplaints.capture { _ in }  // the error says as much
        do throws(AudioCapture.Failure) {
            return try AudioCapture(device, channels: channels)
        } catch {
            switch error {
            case .system(let error): throw Failure(.system, "\(error)")
            case .sound(let error):
                switch error.code {
                case -EACCES, -EPERM:
                    throw Failure(.noPermission, "\(device): \(error); join the group audio and log in again")
                case -EBUSY:
                    throw Failure(
                        .unavailable, "another program listens to \(device); end it, or name 'default' to share it")
                case -EINVAL:
                    throw Failure(
                        .unavailable,
                        "\(device) cannot be used (\(error)); 'arecord -D \(device) --dump-hw-params' "
                            + "lists its channels and sample rates, of which 44.1 to 192 kHz are understood")
                default:
                    throw Failure(.unavailable, "no sound comes from \(device) (\(error)); 'arecord -l' lists inputs")
                }
            }
        }
    }

    /// Begins to listen.
    static func start(
        _ capture: AudioCapture, receive: @escaping @Sendable (AudioCapture.Event) -> Void
    ) throws(Failure) {
        do throws(AudioCapture.Failure) {
            try capture.start(receive)
        } catch {
            throw Failure(.system, "\(error)")
        }
    }
}

extension SoundCalibration {
    fileprivate mutating func take(_ event: ClockInputEvent, from sender: PortAddress) {
        switch event {
        case .overflow: lost()
        case .arrival(let arrival):
            if "\(arrival.source)" == sender.description { sent(arrival.message, at: arrival.time) }
        }
    }
}
