internal import BeatTime
internal import RealTime

/// Sleeps to a moment in host time: most of the way on the clock that can be slept on, the last stretch awake.
///
/// The stretch is as long as the machine's wake-ups are usually late, learnt as they happen, but never so long that
/// it costs more than half a percent of a core.
struct Sleeper {
    /// The wake-up latency that 99 of 100 stay below, in nanoseconds.
    private(set) var usualLatency: Int64 = 100_000

    private static let allowedLatency: ClosedRange<Int64> = 20_000...250_000
    private static let learningStep: Int64 = 5_000

    /// Sleeps until a moment or for a slice of time, whichever is shorter, and returns a little early or on time.
    ///
    /// After an early return the caller looks for news and calls again; within the last stretch the call returns
    /// exactly on time.
    ///
    /// - Parameters:
    ///   - due: the moment.
    ///   - slice: the longest sleep, in microseconds.
    ///   - tickLength: the time between two such moments, in microseconds.
    mutating func sleep(until due: HostTime, slice: Int64, tickLength: Int64) {
        let reading = ClockReading.take()
        let sliceEnd = reading.monotonic.advanced(byNanoseconds: slice * 1000)
        guard reading.hostTime.microseconds(to: due) < 2 * slice else { return MonotonicTime.sleep(until: sliceEnd) }
        let stretch = min(usualLatency, tickLength * 5)
        let wakeUp = reading.monotonicTime(of: due).advanced(byNanoseconds: -stretch)
        if wakeUp <= reading.monotonic {
            while HostTime.now() < due {}
        } else if sliceEnd < wakeUp {
            MonotonicTime.sleep(until: sliceEnd)
        } else {
            MonotonicTime.sleep(until: wakeUp)
            learn(latency: MonotonicTime.now().nanoseconds - wakeUp.nanoseconds)
        }
    }

    /// Moves the estimate up by much when it was exceeded and down by a ninety-ninth of that when it was not, so it
    /// rests where one in a hundred exceeds it.
    private mutating func learn(latency: Int64) {
        usualLatency += latency > usualLatency ? Self.learningStep : -Self.learningStep / 99
        usualLatency = min(max(usualLatency, Self.allowedLatency.lowerBound), Self.allowedLatency.upperBound)
    }
}
