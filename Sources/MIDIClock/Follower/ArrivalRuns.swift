/// Successive arrivals that are all too early or all too late: noise has no such runs, a change of tempo does.
struct OutlierRun: Sendable {
    /// How many outliers there are on one side.
    private(set) var count = 0
    private var firstError = 0.0
    private var lastError = 0.0
    private var isReal = false
    /// Ticks for which two outliers are not enough, because single ones do happen with this leader.
    private var doubtful = 0

    /// Ticks for which a single outlier is remembered.
    private static let memory = 512

    /// Takes note of a tick in its place.
    mutating func end() {
        doubtful = count > 0 && !isReal ? Self.memory : max(0, doubtful - 1)
        count = 0
    }

    /// Whether an arrival goes on as a change of tempo would: twice as far off as the first.
    func isGrowing(to error: Double, gate: Double) -> Bool {
        count == 1 && abs(lastError) > 1.5 * gate && abs(error - 2 * lastError) < 1.5 * gate
    }

    /// Takes in an outlier.
    ///
    /// - Returns: whether the run is no accident: three on one side, or two that grow where there are no single ones.
    mutating func take(_ error: Double, gate: Double) -> Bool {
        let isGrowing = isGrowing(to: error, gate: gate)
        count = count > 0 && (error > 0) == (lastError > 0) ? count + 1 : 1
        if count == 1 { firstError = error }
        lastError = error
        isReal = count >= 3 || (isGrowing && doubtful == 0)
        return isReal
    }

    /// How far the ticks have jumped when three are equally far off, in microseconds.
    var jump: Double? {
        count == 3 && abs(lastError - firstError) < 0.3 * abs(lastError) ? lastError : nil
    }
}

/// Arrivals too late to be the tick that was due: either a stall, and the rest follows at once, or ticks were lost.
struct LateRun: Sendable {
    /// How many there are.
    private(set) var count = 0
    /// When the last came, in microseconds.
    private(set) var lastTime: Int64 = 0
    /// How late it was, in microseconds.
    private(set) var lastError = 0.0

    /// Takes in one more.
    mutating func append(_ time: Int64, error: Double) {
        count += 1
        lastTime = time
        lastError = error
    }

    /// Forgets them: it is known what they were.
    mutating func end() { count = 0 }
}
