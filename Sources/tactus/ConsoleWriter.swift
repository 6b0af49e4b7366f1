import Essentials
import Glibc
import RealTime
import Synchronization

/// Writes to a terminal, pipe or file on a thread of its own, so that only this thread ever waits for a reader.
///
/// Any thread may add to it. The descriptor is left as it is: a terminal made non-blocking would be so for the shell, too.
final class ConsoleWriter: Sendable {
    private struct Contents {
        var backlog: ConsoleBacklog
        var isFlushAwaited = false
    }

    private let descriptor: Int32
    private let contents: Mutex<Contents>
    private let wakeUp: WakeUp
    private let flushed: WakeUp

    /// Most descriptors that it opens.
    static let descriptorsNeeded = 2

    /// Starts the thread, which lives as long as the process.
    ///
    /// - Parameters:
    ///   - descriptor: where to write.
    ///   - name: of the thread.
    ///   - lossLine: a line for this many lost ones.
    /// - Throws: when the system gives no descriptor or no thread.
    init(
        _ descriptor: Int32, name: String, lossLine: @escaping @Sendable (Int) -> String
    ) throws(SystemCallError) {
        self.descriptor = descriptor
        contents = Mutex(Contents(backlog: ConsoleBacklog(lossLine: lossLine)))
        (wakeUp, flushed) = (try WakeUp(), try WakeUp())
        _ = try RealTimeThread(name: name, priority: 0) { [self] in run() }
    }

    /// Adds a line, without its line break.
    func add(_ line: String) {
        contents.withLock { $0.backlog.add(line) }
        wakeUp.signal()
    }

    /// Replaces the live line; an empty one removes it.
    func show(_ line: String) {
        contents.withLock { $0.backlog.show(line) }
        wakeUp.signal()
    }

    /// Waits until everything is written, or until a deadline.
    func flush(until deadline: MonotonicTime) {
        flushed.clear()
        contents.withLock { $0.isFlushAwaited = true }
        wakeUp.signal()
        var descriptors = [pollfd(fd: flushed.descriptor, events: Int16(POLLIN), revents: 0)]
        while descriptors[0].revents == 0, MonotonicTime.now() < deadline { poll(&descriptors, until: deadline) }
    }

    private func run() {
        while true {
            let text = contents.withLock { contents in
                let text = contents.backlog.take()
                if text == nil, contents.isFlushAwaited {
                    contents.isFlushAwaited = false
                    flushed.signal()
                }
                return text
            }
            if let text {
                if !write(text, to: descriptor) { contents.withLock { $0.backlog.failed() } }
            } else {
                var descriptors = [pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)]
                poll(&descriptors, until: nil)
                wakeUp.clear()
            }
        }
    }
}
