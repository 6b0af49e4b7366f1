/// Measures jitter in blocks of ticks, while the tempo is the same from block to block.
struct BlockMeter {
    private let kind: PulseKind
    private(set) var jitter = JitterRecord()
    /// All ticks since the last change of tempo; nil before any of them is measured.
    private(set) var stretch: SteadyStretch?
    /// Microseconds per tick in the slowest and in the fastest block.
    private(set) var slowest = -Double.infinity
    private(set) var fastest = Double.infinity
    /// Number of changes of tempo and leaps of the clock; a lasting change counts once.
    private(set) var changes = 0
    /// The newest block, until the next one shows whether the tempo stays the same.
    private var waiting: TickBlock?
    /// Whether it continues the block before.
    private var isInStep = true
    /// The last ticks measured, if the next block continues them.
    private var tail: ArraySlice<Tick> = []

    init(_ kind: PulseKind) { self.kind = kind }

    /// Processes the next block of ticks.
    mutating func take(_ ticks: [Tick]) {
        guard let block = TickBlock(ticks, of: kind) else { return breakOff() }
        // A leap within a block makes a meaningless line.
        if block.spread < block.period / 10 {
            slowest = max(slowest, block.period)
            fastest = min(fastest, block.period)
        }
        if let waiting {
            let isContinued = waiting.isContinued(by: block)
            if !isContinued, isInStep { changes += 1 }
            if isContinued, isInStep { measure(waiting) } else { leaveOut() }
            isInStep = isContinued
        }
        waiting = block
    }

    /// Measures what is left at the end.
    ///
    /// - Parameter rest: the last ticks; too few to show a change.
    mutating func finish(_ rest: [Tick]) {
        if let waiting, isInStep { measure(waiting) }
        guard let rest = TickBlock(rest, of: kind) else { return }
        guard let waiting else { return measure(rest) }
        if isInStep, waiting.isContinued(by: rest) { measure(rest) }
    }

    /// Separates what follows, even if the tempo is the same.
    mutating func breakOff() {
        waiting = nil
        isInStep = true
        leaveOut()
    }

    private mutating func measure(_ block: TickBlock) {
        jitter.add(block, after: tail)
        tail = block.ticks.suffix(2)
        if stretch == nil { stretch = SteadyStretch(block) } else { stretch?.add(block) }
    }

    private mutating func leaveOut() {
        tail = []
        stretch = nil
    }
}

extension BlockMeter {
    /// The tempo since its last change.
    ///
    /// - Parameters:
    ///   - rough: microseconds per tick and their standard deviation, used before a block is measured.
    ///   - perBeat: ticks in a beat.
    ///   - nominal: the intended tempo in BPM; nil for a round one nearby.
    /// - Returns: the tempo, in BPM.
    func tempo(
        rough: (period: Double, deviation: Double), perBeat: Double, nominal: Double?
    ) -> ClockFigures.Tempo {
        func tempo(_ period: Double) -> Double { 60_000_000 / (perBeat * period) }
        let period = stretch?.period ?? rough.period
        let deviation = stretch?.periodDeviation(noise: max(jitter.deviation, 0.3)) ?? rough.deviation
        let now = tempo(period)
        return ClockFigures.Tempo(
            beatsPerMinute: now, deviation: now * deviation / period,
            slowest: tempo(max(slowest, period)), fastest: tempo(min(fastest, period)), changes: changes,
            drift: stretch.flatMap { _ in .init(now, relativeDeviation: deviation / period, nominal) })
    }
}
