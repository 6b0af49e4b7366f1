internal import BeatTime
package import CardClock
package import MIDIClock

/// A stream of pulses as sound on channels of a card.
///
///     PulseStream -> PulseEdge, at a host time -> CardClock -> frame -> LevelWave -> SampleBlock
package struct PulseSound: Sendable {
    package private(set) var stream: PulseStream
    /// The channel of each line, counted from 0.
    private let channels: [Int]
    private var waves: [LevelWave]
    /// The sound of each line that is a click, on top of its level.
    private var clicks: [ClickWave]
    /// The line whose pulses are counted: the first clock.
    private let counted: Int
    private var pulses = 0
    /// How many planned pulses there are for one of that line, if it has pulses in each beat.
    private let countedStride: Int64
    /// Whether pulses that are left out matter to somebody who counts them.
    private let countsSkipped: Bool

    package init(_ settings: PulseSettings, on channels: [Int], first frame: Int) {
        stream = PulseStream(settings)
        self.channels = channels
        waves = settings.lines.map { LevelWave(level: $0.level(isOn: false), first: frame) }
        clicks = settings.lines.map { _ in ClickWave() }
        counted = settings.lines.firstIndex(where: \.isClock) ?? 0
        let perBeat = settings.lines.first(where: \.isClock)?.pulsesPerBeat
        countedStride = perBeat.map { max(1, settings.pulsesPerBeat / $0) } ?? 1
        countsSkipped = settings.clickCount == 0
    }

    /// Writes its channels of a block, which follows the last one.
    package mutating func write(
        _ plan: OutputPlan, on map: TempoMap, by clock: CardClock, into block: inout SampleBlock
    ) {
        let (begin, end) = (hostTime(of: block.frames.lowerBound, clock), hostTime(of: block.frames.upperBound, clock))
        while let edge = stream.next(plan, on: map, from: begin, until: end) {
            let place = clock.frame(at: Double(edge.time.microseconds))
            if let click = edge.click {
                clicks[edge.line].begin(
                    click, edge.level, at: max(place, Double(block.first)), sampleRate: clock.sampleRate)
            } else {
                waves[edge.line].change(to: edge.level, at: place, on: channels[edge.line], of: &block)
            }
            if edge.isOn, edge.line == counted { pulses += 1 }
        }
        for line in waves.indices {
            waves[line].hold(on: channels[line], of: &block)
            clicks[line].write(on: channels[line], of: &block)
        }
    }

    /// Writes a block in which its lines are off.
    package func silence(_ block: inout SampleBlock) {
        for (line, channel) in zip(stream.settings.lines, channels) {
            for frame in block.frames { block[channel, frame] = line.level(isOn: false) }
        }
    }

    /// Goes on with another frame after the card has fallen silent.
    package mutating func restart(at frame: Int) {
        stream.fellSilent()
        waves = stream.settings.lines.map { LevelWave(level: $0.level(isOn: false), first: frame) }
        for line in clicks.indices { clicks[line].end() }
    }

    /// Requests that a machine that plays is started anew, at a bar.
    package mutating func realign() { stream.realign() }

    /// The pulses of its first clock, and the ones left out, since this was last called; for a click, its sounds.
    package mutating func takeCounts() -> (pulses: Int, skipped: Int) {
        defer { pulses = 0 }
        let skipped = stream.takeSkipped().pulses
        return (pulses, countsSkipped ? Int(clamping: skipped / countedStride) : 0)
    }

    /// When the stretch of a frame's sample begins.
    private func hostTime(of frame: Int, _ clock: CardClock) -> HostTime {
        HostTime(microseconds: Int64(clock.time(ofFrame: LevelWave.begin(of: frame)).rounded(.up)))
    }
}
