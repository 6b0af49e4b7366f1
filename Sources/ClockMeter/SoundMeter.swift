package import BeatTime

/// Measures sounds that follow a beat, such as clicks: times in, the figures of a clock out.
///
/// Four in a row that are evenly apart show the beat. From then on a sound off the beat counts as doubled, and a beat
/// without one as lost; four in a row that are evenly apart in another way are a change. Jitter is measured in blocks of
/// 16.
///
/// A value for one thread at a time. It reads no clock, and its memory does not grow.
package struct SoundMeter: Sendable {
    private let start: HostTime
    private var end: HostTime
    private var received = 0
    private var lost = 0
    private var doubled = 0
    private var refused = 0
    private var overflows = 0
    private var silences = ClockFigures.Silences(count: 0, longestSeconds: 0)
    private var blocks = BlockMeter(.sounds)
    /// The newest, on the beat or not, in microseconds.
    private var recent: [Int64] = []
    /// Microseconds from one to the next, once known.
    private var period: Double?
    /// Those counted that are not measured yet.
    private var ticks: [Tick] = []
    private var newest: Tick?

    /// So many in a row must be evenly apart.
    private static let beatsToLock = 4
    /// By so much of the period may one be off its beat.
    private static let tolerance = 0.25
    /// After so many beats without one it is a silence.
    private static let silentBeats = 4.0
    /// The shortest and the longest time between beats, in microseconds: 20 BPM, and 16 to a beat at 300.
    private static let periods = 10_000.0...3_000_000.0
    /// By so much each new interval moves the period.
    private static let share = 0.2

    /// A meter that has heard nothing.
    ///
    /// - Parameter start: when measuring begins: second 0.
    package init(start: HostTime) {
        self.start = start
        end = start
    }

    /// Takes in a sound.
    ///
    /// - Parameter time: when it began; not before the one before.
    package mutating func received(at time: HostTime) {
        guard time >= start, time.microseconds > recent.last ?? .min, time.microseconds < 1 << 53 else {
            return refused += 1
        }
        received += 1
        end = max(end, time)
        if let period, let last = recent.last, Double(time.microseconds - last) > Self.silentBeats * period {
            noteSilence(time.microseconds - last)
        }
        recent.append(time.microseconds)
        if recent.count > Self.beatsToLock { recent.removeFirst() }
        guard let newest, let period else { return begin() }
        let distance = Double(time.microseconds - newest.time)
        let count = max(1, (distance / period).rounded())
        if let other = evenPeriod, count > Self.silentBeats || abs(other / period - 1) > Self.tolerance {
            self.period = other
            return take(Tick(number: newest.number + 1, time: time.microseconds))
        }
        guard count <= Self.silentBeats, abs(distance / period - count) <= Self.tolerance else { return doubled += 1 }
        lost += Int(count) - 1
        self.period = period + Self.share * (distance / count - period)
        take(Tick(number: newest.number + Int64(count), time: time.microseconds))
    }

    /// Takes note that an unknown part of the sound was lost on this machine.
    package mutating func soundLost() {
        overflows += 1
        breakOff()
    }

    /// Takes note that nothing came until now.
    package mutating func timePassed(to now: HostTime) { end = max(end, now) }

    /// All there is to say by now.
    ///
    /// - Parameter nominal: the tempo meant, in beats per minute; it also tells how many sounds there are to a beat. nil
    ///   for one to a beat, and to take a round tempo near by.
    /// - Returns: the figures.
    package func figures(nominal: Double? = nil) -> ClockFigures {
        var finished = self
        finished.measure(rest: true)
        return finished.summary(nominal)
    }

    /// How far the newest are apart if they are evenly so, in microseconds.
    private var evenPeriod: Double? {
        guard recent.count == Self.beatsToLock else { return nil }
        let intervals = zip(recent.dropFirst(), recent).map { Double($0 - $1) }
        let middle = intervals.sorted()[intervals.count / 2]
        let isEven = intervals.allSatisfy { abs($0 - middle) <= Self.tolerance / 2 * middle }
        return isEven && Self.periods.contains(middle) ? middle : nil
    }

    private mutating func begin() {
        guard let found = evenPeriod else { return }
        period = found
        for (number, time) in recent.enumerated() { take(Tick(number: Int64(number), time: time)) }
    }

    private mutating func noteSilence(_ length: Int64) {
        silences.count += 1
        silences.longestSeconds = max(silences.longestSeconds, Double(length) / 1_000_000)
        breakOff()
    }

    private mutating func breakOff() {
        measure(rest: true)
        blocks.breakOff()
        (period, newest, recent) = (nil, nil, [])
    }

    private mutating func take(_ tick: Tick) {
        newest = tick
        ticks.append(tick)
        measure(rest: false)
    }

    private mutating func measure(rest: Bool) {
        while ticks.count >= PulseKind.sounds.block {
            blocks.take(Array(ticks.prefix(PulseKind.sounds.block)))
            ticks.removeFirst(PulseKind.sounds.block)
        }
        guard rest else { return }
        blocks.finish(ticks)
        ticks = []
    }
}

extension SoundMeter {
    private func summary(_ nominal: Double?) -> ClockFigures {
        ClockFigures(
            seconds: Double(start.microseconds(to: end)) / 1_000_000, state: state, tempo: tempo(nominal),
            ticks: .init(
                received: received, lost: lost, doubled: doubled, measured: blocks.jitter.count, refused: refused,
                overflows: overflows),
            jitter: blocks.jitter.figures, silences: silences,
            transport: .init(motion: .stopped, songBeat: nil, messages: 0, newest: []),
            histogram: blocks.jitter.histogram.bins(atMost: 24),
            trace: blocks.jitter.trace.points(since: start.microseconds))
    }

    private var state: ClockFigures.State {
        guard let period, let newest else { return received > 0 ? .settling : .waiting }
        return Double(end.microseconds - newest.time) > Self.silentBeats * period ? .lost : .locked
    }

    private func tempo(_ nominal: Double?) -> ClockFigures.Tempo? {
        guard let period = blocks.stretch?.period ?? period else { return nil }
        let perBeat = nominal.map { max(1, (60_000_000 / (period * $0)).rounded()) } ?? 1
        return blocks.tempo(rough: (period, Self.tolerance * period), perBeat: perBeat, nominal: nominal)
    }
}
