internal import ALSASequencer
internal import Glibc
internal import RealTime
internal import Synchronization

/// The port `Clock In` and the thread that receives other machines' clocks there.
///
/// While Link is enabled the session leads and nobody else: what comes is counted as refused and goes no further.
struct ClockInput: Sendable {
    private let receiver: Receiver
    private let thread: RealTimeThread

    /// Opens the port and starts the thread.
    ///
    /// - Parameter trouble: receives why there is no port, in which case the result is nil.
    /// - Throws: when the system gives no thread or no descriptor.
    init?(trouble: inout ALSAError?) throws(SystemCallError) {
        let client: SequencerInput
        do {
            client = try SequencerInput.open(name: "Tactus In", portName: "Clock In")
        } catch {
            trouble = error
            return nil
        }
        let receiver = try Receiver(client)
        self.receiver = receiver
        thread = try RealTimeThread(name: "tactus-input", priority: 0) { receiver.run() }
    }

    /// What was refused since the start.
    var refused: SequencerInput.Counts {
        SequencerInput.Counts(
            ticks: receiver.ticks.load(ordering: .relaxed), transport: receiver.transport.load(ordering: .relaxed))
    }

    /// Says whether what comes is refused; any thread.
    func setRefusing(_ isRefusing: Bool) { receiver.isRefusing.store(isRefusing, ordering: .relaxed) }

    /// Ends the thread.
    func stop() {
        receiver.isStopping.store(true, ordering: .releasing)
        receiver.wakeUp.signal()
        thread.join()
    }

    private final class Receiver: Sendable {
        let input: SequencerInput
        let wakeUp: WakeUp
        let isStopping = Atomic(false)
        let isRefusing = Atomic(false)
        let ticks = Atomic(0)
        let transport = Atomic(0)

        init(_ input: consuming SequencerInput) throws(SystemCallError) {
            self.input = input
            wakeUp = try WakeUp()
        }

        func run() {
            var descriptors = [input.descriptor, wakeUp.descriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            while !isStopping.load(ordering: .acquiring) {
                poll(&descriptors, until: nil)
                let counts = input.take()
                guard isRefusing.load(ordering: .relaxed) else { continue }
                ticks.add(counts.ticks, ordering: .relaxed)
                transport.add(counts.transport, ordering: .relaxed)
            }
        }
    }
}
