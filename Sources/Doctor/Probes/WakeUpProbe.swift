internal import RealTime

/// Measures for about a second how late a thread like the clock's wakes.
struct WakeUpProbe {
    private let thread: RealTimeThread
    private let recording: Recording

    private static let count = 300
    /// Time between wake-ups in nanoseconds; no multiple of the kernel's own periods.
    private static let distance: Int64 = 4_370_000

    /// Written by the thread, read by others after its end.
    private final class Recording: Sendable {
        let latencies = LatencyHistogram()
    }

    /// Starts measuring; nil if no thread can be created.
    ///
    /// - Parameter priority: the real-time priority to ask for; if refused, it measures without.
    init?(priority: Int32) {
        let recording = Recording()
        let made = try? RealTimeThread(name: "tactus doctor", priority: priority) {
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
    }

    /// Waits for the end of the measurement.
    func finish() -> KernelFacts.WakeUps {
        thread.join()
        return KernelFacts.WakeUps(
            isRealTime: thread.scheduling == .fifo, count: Self.count,
            median: recording.latencies.quantile(0.5) ?? 0, most: recording.latencies.quantile(0.99) ?? 0,
            maximum: recording.latencies.maximum)
    }
}
