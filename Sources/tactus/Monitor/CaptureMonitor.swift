import ALSASequencer
import AudioCapture
import ClockMeter
import Synchronization

/// Measures what a sound card hears.
final class CaptureMonitor: Sendable {
    let name: String
    private let capture: AudioCapture
    private let heard: Heard

    private final class Heard: Sendable {
        let state: Mutex<(meters: SoundMeters, gone: ALSAError?)>

        init(_ meters: SoundMeters) { state = Mutex((meters, nil)) }

        func take(_ event: AudioCapture.Event) {
            state.withLock { state in
                switch event {
                case .sound(let sound): state.meters.take(sound.channels)
                case .overrun: state.meters.lost()
                case .gone(let error): state.gone = error
                }
            }
        }
    }

    /// Starts listening.
    ///
    /// - Throws: when there is no such card, or it cannot be used.
    init(device: String, kind: SoundKind, channel: Int, against: Int?) throws(Failure) {
        let channels = [channel] + (against.map { [$0] } ?? [])
        capture = try ListeningSession.listen(device, channels: channels)
        heard = Heard(SoundMeters(kind, sampleRate: capture.sampleRate, channels: channels))
        name = "\(device), channel \(channel)"
        let heard = heard
        try ListeningSession.start(capture) { event in heard.take(event) }
    }

    /// What has been heard by now.
    var meters: SoundMeters { heard.state.withLock { $0.meters } }

    /// Why nothing more can come.
    var gone: ALSAError? { heard.state.withLock { $0.gone } }

    func stop() {
        capture.stop()
        heard.state.withLock { $0.meters.finish() }
    }
}
