internal import RealTime

/// Measures on a thread like the clock's own how late it wakes, for about a second.
struct WakeUpProbe {
    private let thread: RealTimeThread
    private let recording: Recording

    private static let count = 300
    /// No whole number of the kernel's own periods, in nanoseconds.
    private static let distance: Int64 = 4_370_000

    /// What the thread writes and others read once it has ended.
    private final class Recording: Sendable {
        let latencies = LatencyHistogram()
    }

    /// Starts to measure; nil if no thread can be made.
    ///
    /// - Parameter priority: the real-time priority to ask for; if it is refused, it is measured without.
    init?(priority: Int32) {
        let recording = Recording()
        let made = try? RealTimeThread(name: "tactus doctor", priority: priority) {
            var deadline = MonotonicTime.now()
            for _ in 0..<Self.count {
                deadline = deadline.advanced(byNanoseconds: Self.distance)
                MonotonicTime.sleep(until: deadline)
                let late = MonotonicTime.now().nanoseconds - deadline.nanoseconds
                recording.latencies.record(microseconds: late / 1_000)
                // A long delay is one delay, not one for each deadline within it.
                if late > Self.distance { deadline = MonotonicTime.now() }
            }
        }
        guard let made else { return nil }
        (thread, self.recording) = (made, recording)
    }

    /// Waits for the end.
    func finish() -> KernelFacts.WakeUps {
        thread.join()
        return KernelFacts.WakeUps(
            isRealTime: thread.scheduling == .fifo, count: Self.count,
            median: recording.latencies.quantile(0.5) ?? 0, most: recording.latencies.quantile(0.99) ?? 0,
            maximum: recording.latencies.maximum)
    }
}
