/// Successive arrivals that are all too early or all too late, which is a sign of a tempo change.
struct OutlierRun: Sendable {
    /// Number of outliers on one side.
    private(set) var count = 0
    private var firstError = 0.0
    private var lastError = 0.0
    private var isReal = false
    /// Number of ticks for which two outliers are not enough, because a single one came before.
    private var doubtful = 0

    /// Ticks for which a single outlier is remembered.
    private static let memory = 512

    /// Records a tick that came at its expected time, which ends the run.
    mutating func end() {
        doubtful = count > 0 && !isReal ? Self.memory : max(0, doubtful - 1)
        count = 0
    }

    /// Whether a second outlier fits a tempo change: it must be twice as far off as the first.
    func isGrowing(to error: Double, gate: Double) -> Bool {
        count == 1 && abs(lastError) > 1.5 * gate && abs(error - 2 * lastError) < 1.5 * gate
    }

    /// Adds an outlier.
    ///
    /// - Returns: whether the run is significant: three on one side, or two that grow and no recent single outliers.
    mutating func take(_ error: Double, gate: Double) -> Bool {
        let isGrowing = isGrowing(to: error, gate: gate)
        count = count > 0 && (error > 0) == (lastError > 0) ? count + 1 : 1
        if count == 1 { firstError = error }
        lastError = error
        isReal = count >= 3 || (isGrowing && doubtful == 0)
        return isReal
    }

    /// The jump of the ticks, in microseconds, if three are equally far off.
    var jump: Double? {
        count == 3 && abs(lastError - firstError) < 0.3 * abs(lastError) ? lastError : nil
    }
}

/// Late arrivals: either a stall, and the rest follows at once, or ticks were lost.
struct LateRun: Sendable {
    /// Number of late arrivals.
    private(set) var count = 0
    /// Time of the last one, in microseconds.
    private(set) var lastTime: Int64 = 0
    /// Lateness of the last one, in microseconds.
    private(set) var lastError = 0.0

    /// Adds a late arrival.
    mutating func append(_ time: Int64, error: Double) {
        count += 1
        lastTime = time
        lastError = error
    }

    /// Ends the run.
    mutating func end() { count = 0 }
}
