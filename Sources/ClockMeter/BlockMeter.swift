/// Measures jitter in blocks of ticks where the tempo stays what it is from one block to the next.
struct BlockMeter {
    private let kind: PulseKind
    private(set) var jitter = JitterRecord()
    /// All ticks since the tempo last changed; nil before any of them is measured.
    private(set) var stretch: SteadyStretch?
    /// Microseconds from one tick to the next in the slowest and in the fastest block.
    private(set) var slowest = -Double.infinity
    private(set) var fastest = Double.infinity
    /// How often the tempo has changed, or the clock has leapt; a change that lasts is one.
    private(set) var changes = 0
    /// The newest block, until the next one shows whether the tempo stays.
    private var waiting: TickBlock?
    /// Whether it goes on from the block before.
    private var isInStep = true
    /// The last ticks measured, where the next block goes on from them.
    private var tail: ArraySlice<Tick> = []

    init(_ kind: PulseKind) { self.kind = kind }

    /// Takes in the next block of ticks.
    mutating func take(_ ticks: [Tick]) {
        guard let block = TickBlock(ticks, of: kind) else { return breakOff() }
        // A leap within a block makes a line of no tempo.
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

    /// Measures what is left, whatever may follow.
    ///
    /// - Parameter rest: the last ticks; too short to tell of a change.
    mutating func finish(_ rest: [Tick]) {
        if let waiting, isInStep { measure(waiting) }
        guard let rest = TickBlock(rest, of: kind) else { return }
        guard let waiting else { return measure(rest) }
        if isInStep, waiting.isContinued(by: rest) { measure(rest) }
    }

    /// What follows is no continuation, though the tempo may be the same.
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
    /// The tempo since it last changed.
    ///
    /// - Parameters:
    ///   - rough: microseconds from one tick to the next, and their standard deviation, where no block is measured yet.
    ///   - perBeat: ticks in a beat.
    ///   - nominal: the tempo the clock is meant to have; nil to take a round one near by.
    /// - Returns: it, in beats per minute.
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
