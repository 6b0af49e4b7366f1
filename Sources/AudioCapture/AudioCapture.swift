package import ALSASequencer
internal import CALSA
internal import Glibc
package import OnsetDetection
package import RealTime
internal import Synchronization

/// Reads sound from a sound card, on its own thread without real-time priority.
package final class AudioCapture: Sendable {
    /// An event; events are reported in the order in which they happen.
    package enum Event: Sendable {
        /// The card is open; sound follows. The sample rate is in Hz; if converted, the card's own may differ.
        case opened(sampleRate: Int, isConverted: Bool)
        case sound(SoundBlock)
        /// Sound was lost because this machine did not read it in time; more sound follows.
        case overrun
        /// The card failed; no more events follow.
        case failed(Failure)
    }

    /// Why a card delivers no sound.
    package enum Failure: Error, Hashable, Sendable {
        /// The card does not exist, another program uses it, or it has too few channels.
        case notOpened(ALSAError)
        /// The card was open and then failed, usually because it was unplugged.
        case gone(ALSAError)
    }

    private let device: String
    /// The channels to read, counted from 1.
    private let channels: [Int]
    private let wakeUp: WakeUp
    private let isStopping = Atomic(false)
    private let hasEnded = Atomic(false)
    private let thread = Mutex<RealTimeThread?>(nil)

    /// Starts the thread, which opens the card and then reads from it.
    ///
    /// The card is opened on the thread because some cards take long to open.
    ///
    /// - Parameters:
    ///   - device: libasound's name of the card, such as `hw:1`.
    ///   - channels: the channels to read, counted from 1.
    ///   - receive: called on the thread with each event.
    /// - Throws: if the system provides no thread or no file descriptor.
    package init(
        _ device: String, channels: [Int], _ receive: @escaping @Sendable (Event) -> Void
    ) throws(SystemCallError) {
        (self.device, self.channels) = (device, channels)
        wakeUp = try WakeUp()
        let reading = try RealTimeThread(name: "tactus-listen", priority: 0) { [self] in
            run(receive)
            hasEnded.store(true, ordering: .releasing)
        }
        thread.withLock { $0 = reading }
    }

    /// Asks the thread to close the card and end; returns at once.
    package func requestStop() {
        isStopping.store(true, ordering: .releasing)
        wakeUp.signal()
    }

    /// Whether the thread has closed the card.
    package var isClosed: Bool { hasEnded.load(ordering: .acquiring) }

    /// Closes the card, and returns when the thread has ended.
    ///
    /// If the card's driver hangs, this call never returns.
    package func stop() {
        requestStop()
        thread.withLock { $0?.join() }
    }

    private func run(_ receive: (Event) -> Void) {
        var pcm: PCMInput
        do {
            pcm = try PCMInput(opening: device, channels: channels.max() ?? 1)
        } catch {
            return receive(.failed(.notOpened(error)))
        }
        receive(.opened(sampleRate: pcm.sampleRate, isConverted: pcm.isResampled))
        do {
            try read(&pcm, receive)
        } catch {
            receive(.failed(.gone(error)))
        }
    }

    private func read(_ pcm: inout PCMInput, _ receive: (Event) -> Void) throws(ALSAError) {
        var descriptors = [pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)] + pcm.descriptors
        var wakeUps = [descriptors[0]]
        try pcm.start()
        var pace = CapturePace(at: Self.seconds(.now()))
        while !isStopping.load(ordering: .acquiring) {
            switch try pcm.read() {
            case .nothing:
                poll(&descriptors, until: nil)
                pcm.acknowledge(descriptors.dropFirst())
            case .overrun: receive(.overrun)
            case .sound(let frames):
                let samples = channels.map { pcm.samples(ofChannel: $0 - 1, frames: frames) }
                receive(.sound(SoundBlock(channels: samples, stamp: pcm.stamp())))
                let now = MonotonicTime.now()
                let pause = pace.pause(afterReading: Double(frames) / Double(pcm.sampleRate), at: Self.seconds(now))
                guard pause > 0 else { continue }
                poll(&wakeUps, until: MonotonicTime(nanoseconds: now.nanoseconds + Int64(pause * 1e9)))
            }
        }
    }

    private static func seconds(_ time: MonotonicTime) -> Double { Double(time.nanoseconds) / 1e9 }
}
