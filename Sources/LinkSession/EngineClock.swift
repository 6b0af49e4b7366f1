import BeatTime

// Tracking the clock of the joined session.
extension Engine {
    private static let fullRoundPeriod: Int64 = 30_000_000
    private static let burstPeriod: Int64 = 1_000_000
    /// How soon after joining the clock is measured again, in microseconds: it shows the clock's rate.
    private static let firstBurst: Int64 = 500_000
    private static let correctionPeriod: Int64 = 250_000
    /// Smaller corrections, in microseconds, are not applied.
    private static let leastCorrection: Int64 = 2

    /// Starts to follow the clock of a session just joined.
    mutating func follow(_ measured: SessionClock, at now: HostTime) {
        clock = measured
        correctedAt = now
        remeasureAt = now.advanced(byMicroseconds: Self.firstBurst)
        fullRoundAt = now.advanced(byMicroseconds: Self.fullRoundPeriod)
    }

    /// Measures the joined session again when it is time.
    mutating func remeasureSession(at now: HostTime) {
        guard let due = remeasureAt, due <= now else { return }
        remeasureAt = now.advanced(byMicroseconds: Self.burstPeriod)
        // Over a slow network a full measurement takes longer than the interval between two.
        guard !measurements.contains(where: { $0.session == session.id }) else { return }
        let isFullRound = fullRoundAt <= now
        if isFullRound { fullRoundAt = now.advanced(byMicroseconds: Self.fullRoundPeriod) }
        _ = startMeasurement(of: session.id, isFullRound ? .full : .short, at: now)
    }

    /// Handles another measurement of the joined session.
    mutating func measuredAgain(_ burst: Burst, at now: HostTime) {
        clock?.add(burst)
        correct(at: now)
    }

    /// Follows the clock's drift in small steps.
    mutating func correctClock(at now: HostTime) {
        if nextCorrection <= now { correct(at: now) }
    }

    /// When the clock of a joined session is corrected again.
    var nextCorrection: HostTime { correctedAt.advanced(byMicroseconds: Self.correctionPeriod) }

    private mutating func correct(at now: HostTime) {
        correctedAt = now
        // Right in the middle of the time for which it is used.
        let middle = now.advanced(byMicroseconds: Self.correctionPeriod / 2)
        guard let transform = clock?.transform(at: middle) else { return }
        let step = session.transform.intercept &- transform.intercept
        guard step.magnitude >= Self.leastCorrection else { return }
        clockSteps &+= step
        // Peers need not know: the shared state of the session has not changed.
        apply(session.timeline, transform, at: now)
    }
}
