package import ALSASequencer
internal import CALSA
internal import Glibc
package import RealTime
internal import Synchronization

/// What a sound card has taken in.
package struct CapturedSound: Sendable {
    /// The samples of each channel asked for; full scale is 1.
    package var channels: [[Float]]
    /// How the card's samples relate to this machine's clock; nil if the driver does not tell.
    package var stamp: Stamp?

    /// How many samples there were at some time, by the driver.
    package struct Stamp: Hashable, Sendable {
        /// Since the first.
        package var samples: Int
        /// CLOCK_MONOTONIC_RAW.
        package var microseconds: Double
    }
}

/// Listens to a sound card, on a thread of its own without any priority.
package final class AudioCapture: Sendable {
    /// What happens, in its order.
    package enum Event: Sendable {
        case sound(CapturedSound)
        /// Sound was lost: this machine did not read it in time. More will come.
        case overrun
        /// The card is gone; nothing more will come.
        case gone(ALSAError)
    }

    package let sampleRate: Int
    /// Which channels, counted from 1.
    private let channels: [Int]
    private let pcm: Mutex<PCMInput>
    private let wakeUp: WakeUp
    private let isStopping = Atomic(false)
    private let thread = Mutex<RealTimeThread?>(nil)

    /// Why there is nothing to listen to.
    package enum Failure: Error, Sendable {
        case sound(ALSAError)
        case system(SystemCallError)
    }

    /// Opens a card.
    ///
    /// - Parameters:
    ///   - device: as libasound knows it, such as `hw:1`.
    ///   - channels: which channels to listen to, counted from 1.
    /// - Throws: when there is no such card, another program has it, or it lacks a channel.
    package init(_ device: String, channels: [Int]) throws(Failure) {
        let opened: PCMInput
        do throws(ALSAError) {
            opened = try PCMInput.open(device, channels: channels.max() ?? 1)
        } catch {
            throw .sound(error)
        }
        sampleRate = opened.sampleRate
        pcm = Mutex(opened)
        self.channels = channels
        do throws(SystemCallError) {
            wakeUp = try WakeUp()
        } catch {
            throw .system(error)
        }
    }

    /// Begins to listen; once.
    ///
    /// - Parameter receive: receives, on the thread, what happens.
    /// - Throws: when the system gives no thread.
    package func start(_ receive: @escaping @Sendable (Event) -> Void) throws(Failure) {
        do throws(SystemCallError) {
            let reading = try RealTimeThread(name: "tactus-listen", priority: 0) { [self] in
                pcm.withLock { run(&$0, receive) }
            }
            thread.withLock { $0 = reading }
        } catch {
            throw .system(error)
        }
    }

    /// Ends the thread.
    package func stop() {
        isStopping.store(true, ordering: .releasing)
        wakeUp.signal()
        thread.withLock { $0?.join() }
    }

    private func run(_ pcm: inout PCMInput, _ receive: (Event) -> Void) {
        var descriptors = [pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)] + pcm.descriptors
        do {
            try pcm.start()
            while !isStopping.load(ordering: .acquiring) {
                switch try pcm.read() {
                case .nothing:
                    poll(&descriptors, until: nil)
                    pcm.acknowledge(descriptors.dropFirst())
                case .overrun: receive(.overrun)
                case .sound(let frames):
                    let samples = channels.map { pcm.samples(ofChannel: $0 - 1, frames: frames) }
                    receive(.sound(CapturedSound(channels: samples, stamp: pcm.stamp())))
                }
            }
        } catch {
            receive(.gone(error))
        }
    }
}
