import BeatTime
import Glibc
import RealTime
import Synchronization

/// A thread that reads keys from the terminal and notes their times.
final class Keyboard: Sendable {
    private let wakeUp: WakeUp
    private let isStopping = Atomic(false)
    private let thread = Mutex<RealTimeThread?>(nil)

    /// Starts the thread.
    ///
    /// - Parameter pressed: called on the thread with the bytes of one read.
    /// - Throws: if the thread or its wake-up descriptor cannot be created.
    init(_ pressed: @escaping @Sendable ([UInt8], HostTime) -> Void) throws(SystemCallError) {
        wakeUp = try WakeUp()
        let reading = try RealTimeThread(name: "tactus-keys", priority: 0) { [self] in run(pressed) }
        thread.withLock { $0 = reading }
    }

    /// Ends the thread.
    func stop() {
        isStopping.store(true, ordering: .releasing)
        wakeUp.signal()
        thread.withLock { $0?.join() }
    }

    private func run(_ pressed: ([UInt8], HostTime) -> Void) {
        var descriptors = [STDIN_FILENO, wakeUp.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            poll(&descriptors, until: nil)
            guard !isStopping.load(ordering: .acquiring) else { return }
            guard descriptors[0].revents != 0 else { continue }
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            // The terminal is gone; signals still end the program.
            guard count > 0 else { return }
            pressed(Array(bytes.prefix(count)), .now())
        }
    }
}
