internal import CLinux
internal import Glibc
internal import Synchronization

/// Signals that the program handles itself, while this object exists.
package final class SignalSource: Sendable {
    private let signals: [Int32]
    private let wakeUp: WakeUp
    private let thread: RealTimeThread
    private let isEnding: Ending

    private final class Ending: Sendable {
        let isEnding = Atomic(false)
    }

    /// Starts handling signals.
    ///
    /// - Parameters:
    ///   - signals: their numbers; each may have one source.
    ///   - timePassed: called on the same thread before each wait; returns when to call it again, nil for after a signal.
    ///   - body: called for each signal that arrives, on a thread of its own.
    /// - Throws: when the system gives no descriptor or no thread.
    package init(
        _ signals: [Int32], timePassed: @escaping @Sendable () -> MonotonicTime? = { nil },
        _ body: @escaping @Sendable (Int32) -> Void
    ) throws(SystemCallError) {
        let (wakeUp, ending) = (try WakeUp(), Ending())
        for signal in signals { clinux_take_signal(signal, wakeUp.descriptor) }
        thread = try RealTimeThread(name: "tactus-signals", priority: 0) {
            while !ending.isEnding.load(ordering: .acquiring) {
                var descriptors = [pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)]
                poll(&descriptors, until: timePassed())
                wakeUp.clear()
                for signal in signals { for _ in 0..<clinux_signals_arrived(signal) { body(signal) } }
            }
        }
        (self.signals, self.wakeUp, isEnding) = (signals, wakeUp, ending)
    }

    /// Restores the default actions of the signals.
    package func end() {
        for signal in signals { clinux_leave_signal(signal) }
        isEnding.isEnding.store(true, ordering: .releasing)
        wakeUp.signal()
        thread.join()
    }

    /// Whether a signal is ignored, as SIGHUP is under `nohup`.
    package static func isIgnored(_ signal: Int32) -> Bool { clinux_is_signal_ignored(signal) != 0 }
}
