internal import Glibc
internal import RealTime
internal import DBus

/// Measures for about a second how late a thread like the clock's wakes.
struct WakeUpProbe {
    /// How the thread may be scheduled; ``finish()`` measures with that.
    let right: PermissionFacts.RealTime
    private let thread: RealTimeThread
    private let recording: Recording

    private static let count = 300
    /// Time between wake-ups in nanoseconds; no multiple of the kernel's own periods.
    private static let distance: Int64 = 4_370_000

    /// Longest wait for rtkit in nanoseconds; the bus may have to start it first.
    private static let patience: Int64 = 5_000_000_000

    /// Written by the thread, read by others after its end.
    private final class Recording: Sendable {
        let latencies = LatencyHistogram()
    }

    /// Starts measuring; nil if no thread can be created.
    ///
    /// - Parameter priority: the real-time priority to ask for, the kernel first and then rtkit; if both refuse, it
    ///   measures without.
    init?(priority: Int32) {
        let recording = Recording()
        guard let start = try? WakeUp(), let overrun = try? WakeUp() else { return nil }
        let made = try? RealTimeThread(name: "tactus doctor", priority: priority) {
            var ready = [pollfd(fd: start.descriptor, events: Int16(POLLIN), revents: 0)]
            while ready[0].revents == 0 { poll(&ready, until: nil) }
            var deadline = MonotonicTime.now()
            for _ in 0..<Self.count {
                deadline = deadline.advanced(byNanoseconds: Self.distance)
                MonotonicTime.sleep(until: deadline)
                let late = MonotonicTime.now().nanoseconds - deadline.nanoseconds
                recording.latencies.record(microseconds: late / 1_000)
                // A long delay counts once, not once for each deadline in it.
                if late > Self.distance { deadline = MonotonicTime.now() }
            }
        }
        guard let made else { return nil }
        (thread, self.recording) = (made, recording)
        right = Self.right(of: made, priority: priority, overrun: overrun)
        start.signal()
    }

    private static func right(of thread: RealTimeThread, priority: Int32, overrun: WakeUp) -> PermissionFacts.RealTime {
        guard !thread.scheduling.isRealTime else { return .byLimits }
        let deadline = MonotonicTime.now().advanced(byNanoseconds: patience)
        switch RealTimeKit.ask(for: thread.id, priority: priority, overrun: overrun, deadline: deadline) {
        case .granted(let priority): return .byRealTimeKit(priority: Int(priority))
        case .refused(let reason): return .refused(reason)
        case nil: return .refused("rtkit was not asked")
        }
    }

    /// Waits for the end of the measurement.
    func finish() -> KernelFacts.WakeUps {
        thread.join()
        return KernelFacts.WakeUps(
            isRealTime: right.isGranted, count: Self.count,
            median: recording.latencies.quantile(0.5) ?? 0, most: recording.latencies.quantile(0.99) ?? 0,
            maximum: recording.latencies.maximum)
    }
}
