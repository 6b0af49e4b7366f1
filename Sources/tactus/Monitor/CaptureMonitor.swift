import AudioCapture
import BeatTime
import ClockMeter
import Listening
import OnsetDetection
import Synchronization

/// Measures a clock on a sound card's input.
final class CaptureMonitor: Sendable {
    let name: String
    private let device: String
    private let capture: AudioCapture
    private let heard: Heard

    private final class Heard: Sendable {
        let (device, kind, channels): (String, SoundKind, [Int])
        let state = Mutex((meters: SoundMeters?.none, problem: ListeningProblem?.none))

        init(_ device: String, _ kind: SoundKind, _ channels: [Int]) {
            (self.device, self.kind, self.channels) = (device, kind, channels)
        }

        func take(_ event: AudioCapture.Event) {
            state.withLock { state in
                switch event {
                case .opened(_, isConverted: true) where kind == .midi:
                    state.problem = ListeningProblem(
                        .unavailable,
                        "\(device) has no sample rate from 44.1 to 192 kHz, and MIDI bytes cannot be read from converted "
                            + "sound; use another card")
                case .opened(let rate, _): state.meters = SoundMeters(kind, sampleRate: rate, channels: channels)
                case .sound(let block): state.meters?.take(block.channels)
                case .overrun: state.meters?.lost()
                case .failed(let failure): state.problem = ListeningProblem(failure, of: device)
                }
            }
        }
    }

    /// Starts listening.
    ///
    /// - Throws: if the thread cannot be created.
    init(device: String, kind: SoundKind, channel: Int, against: Int?) throws(Failure) {
        self.device = device
        let channels = soundChannels(channel, against: against)
        let heard = Heard(device, kind, channels)
        do throws(ListeningProblem) {
            capture = try AudioCapture.opened(device, channels: channels) { heard.take($0) }
        } catch {
            throw Failure(error)
        }
        self.heard = heard
        name = "\(device), channel \(channel)"
    }

    /// The figures of the first channel so far; nil until the card is open.
    func figures(nominal: Tempo?) -> ClockFigures? { heard.state.withLock { $0.meters?.figures(nominal: nominal) } }

    /// Begins to measure anew, while the sound goes on.
    func beginAnew() { heard.state.withLock { $0.meters?.beginAnew() } }

    /// Why nothing more can be measured; nil if there is no problem.
    var problem: ListeningProblem? { heard.state.withLock(\.problem) }

    /// Stops listening.
    ///
    /// - Returns: the results.
    /// - Throws: if no sound came, or two channels have the same.
    func stop() throws(Failure) -> SoundMeters {
        capture.stop()
        let (meters, problem) = heard.state.withLock { state in
            state.meters?.finish()
            return (state.meters, state.problem)
        }
        guard let meters, meters.count > 0 else { throw Failure(problem ?? .noSound(device)) }
        try meters.requireTwoSounds(of: device)
        return meters
    }
}

/// The channels to listen to, counted from 1; the measured one comes first.
func soundChannels(_ channel: Int, against: Int?) -> [Int] { [channel] + (against.map { [$0] } ?? []) }
