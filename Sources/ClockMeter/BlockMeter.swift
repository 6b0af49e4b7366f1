/// Measures jitter in blocks of ticks where the tempo stays what it is from one block to the next.
struct BlockMeter {
    private(set) var jitter = JitterRecord()
    /// All ticks since the tempo last changed; nil before any of them is measured.
    private(set) var stretch: SteadyStretch?
    /// Beats per minute of the slowest and the fastest block.
    private(set) var slowest = Double.infinity
    private(set) var fastest = -Double.infinity
    /// How often the tempo has changed, or the clock has leapt; a change that lasts is one.
    private(set) var changes = 0
    /// The newest block, until the next one shows whether the tempo stays.
    private var waiting: TickBlock?
    /// Whether it goes on from the block before.
    private var isInStep = true
    /// The last ticks measured, where the next block goes on from them.
    private var tail: ArraySlice<Tick> = []

    /// Takes in the next block of ticks.
    mutating func take(_ ticks: [Tick]) {
        guard let block = TickBlock(ticks) else { return breakOff() }
        // A leap within a block makes a line of no tempo.
        if block.spread < block.period / 10 {
            slowest = min(slowest, 2_500_000 / block.period)
            fastest = max(fastest, 2_500_000 / block.period)
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
        guard let rest = TickBlock(rest) else { return }
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
