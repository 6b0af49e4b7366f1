package import BeatTime

/// Measures sounds on a beat, such as clicks: takes times, returns the figures of a clock.
///
/// Four evenly spaced sounds in a row define the beat. From then on a sound off the beat counts as doubled, and a beat
/// without one as lost. Four in a row with another even spacing are a change. Jitter is measured in blocks of 16.
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
    /// The newest sounds, on the beat or not, in microseconds.
    private var recent: [Int64] = []
    /// Microseconds between beats, once known.
    private var period: Double?
    /// Counted sounds that are not measured yet.
    private var ticks: [Tick] = []
    private var newest: Tick?

    /// Sounds in a row that must be evenly spaced.
    private static let beatsToLock = 4
    /// Largest distance from the beat, as a share of the period.
    private static let tolerance = 0.25
    /// Beats without a sound after which it counts as silence.
    private static let silentBeats = 4.0
    /// Shortest and longest time between beats, in microseconds: 16 to a beat at 300 BPM, and 20 BPM.
    private static let periods = 10_000.0...3_000_000.0
    /// Share by which each new interval changes the period.
    private static let share = 0.2

    /// A meter without any sounds.
    ///
    /// - Parameter start: start of the measurement: second 0.
    package init(start: HostTime) {
        self.start = start
        end = start
    }

    /// Processes a sound.
    ///
    /// - Parameter time: when it began; not before the previous one.
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

    /// Notes that an unknown part of the sound was lost on this machine.
    package mutating func soundLost() {
        overflows += 1
        breakOff()
    }

    /// Notes that nothing arrived until now.
    package mutating func timePassed(to now: HostTime) { end = max(end, now) }

    /// The figures so far.
    ///
    /// - Parameter nominal: the intended tempo in BPM, which also tells the number of sounds per beat; nil for one per
    ///   beat and a round tempo nearby.
    /// - Returns: the figures.
    package func figures(nominal: Double? = nil) -> ClockFigures {
        var finished = self
        finished.measure(rest: true)
        return finished.summary(nominal)
    }

    /// The spacing of the newest sounds in microseconds; nil if they are not even.
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
