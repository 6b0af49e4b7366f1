public import BeatTime

/// Follows a MIDI clock master: stamps and transport in, tempo, beat and their uncertainty out.
///
/// A line through the longest run of ticks that is one line, by robust least squares: a long run, so calm, while the
/// master is steady; a short one, so fast, as soon as the ticks contradict it. Lost, late and doubled ticks are told
/// from changes of tempo before they can bend the line. A value that never allocates after it is made; one thread.
public struct ClockFollower: Sendable {
    private var tracker = TickTracker()

    public init() {}

    /// Takes in a message of the master.
    public mutating func received(_ message: ClockMessage, at time: HostTime) {
        switch message {
        case .timingClock: tracker.arrived(at: time.microseconds)
        default: break
        }
    }

    /// The estimate, from the second tick on.
    public var estimate: ClockEstimate? {
        guard let fit = tracker.fit else { return nil }
        let newest = tracker.ring[0]
        let whole = fit.phase.rounded(.down)
        return ClockEstimate(
            tick: newest.number, time: HostTime(microseconds: newest.time &+ roundedToInteger(whole)),
            fraction: fit.phase - whole, microsecondsPerTick: fit.period,
            periodDeviation: fit.periodDeviation * tracker.jitter.deviation,
            phaseDeviation: fit.nextDeviation * tracker.jitter.deviation, jitter: tracker.jitter.deviation,
            window: fit.count)
    }
}
