package import ALSASequencer
internal import CALSA
internal import Glibc
package import OnsetDetection
package import RealTime
internal import Synchronization

/// Listens to a sound card, on a thread of its own without any priority.
package final class AudioCapture: Sendable {
    /// What happens, in its order.
    package enum Event: Sendable {
        /// The card is open; sound will come. Its own sample rate may be another, if that is converted.
        case opened(sampleRate: Int, isConverted: Bool)
        case sound(SoundBlock)
        /// Sound was lost: this machine did not read it in time. More will come.
        case overrun
        /// Nothing more will come.
        case failed(Failure)
    }

    /// Why there is nothing to listen to.
    package enum Failure: Error, Hashable, Sendable {
        /// There is no such card, another program has it, or it lacks a channel.
        case notOpened(ALSAError)
        /// It was there, and is no longer.
        case gone(ALSAError)
    }

    private let device: String
    /// Which channels, counted from 1.
    private let channels: [Int]
    private let wakeUp: WakeUp
    private let isStopping = Atomic(false)
    private let hasEnded = Atomic(false)
    private let thread = Mutex<RealTimeThread?>(nil)

    /// Opens a card and begins to listen, both on the thread: some cards take long to open.
    ///
    /// - Parameters:
    ///   - device: as libasound knows it, such as `hw:1`.
    ///   - channels: which channels to listen to, counted from 1.
    ///   - receive: receives, on the thread, what happens.
    /// - Throws: when the system gives no thread or no descriptor.
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

    /// Whether the card is closed.
    package var isClosed: Bool { hasEnded.load(ordering: .acquiring) }

    /// Ends the thread and closes the card; a driver that hangs keeps the caller.
    package func stop() {
        requestStop()
        thread.withLock { $0?.join() }
    }

    private func run(_ receive: (Event) -> Void) {
        var pcm: PCMInput
        do {
            pcm = try PCMInput.open(device, channels: channels.max() ?? 1)
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
