public import BeatTime
public import MIDIClock

/// Measures a MIDI clock: stamped messages in, figures out.
///
/// Which tick each Timing Clock is, a ``ClockFollower`` tells. Jitter is measured in blocks of four beats, against the
/// straight line through each, and only where the tempo stays what it is from one block to the next.
///
/// A value for one thread at a time. It reads no clock, and its memory does not grow.
public struct ClockMeter: Sendable {
    private var follower = ClockFollower()
    private let start: HostTime
    private var newest: HostTime
    private var lastTick: HostTime?
    /// The stamp of the newest tick that has been measured.
    private var read = Int64.min
    private var unread = 0

    private var jitter = JitterRecord()
    private var stretch: SteadyStretch?
    /// The newest block, until the next one shows whether the tempo stays.
    private var waiting: TickBlock?
    private var isInStep = true
    /// The last ticks measured, where the next block goes on from them.
    private var tail: ArraySlice<Tick> = []

    private var slowest = Double.infinity
    private var fastest = -Double.infinity
    private var changes = 0
    private var silences = ClockFigures.Silences(count: 0, longestSeconds: 0)
    private var overflows = 0
    private var refused = 0
    /// Counted by followers that have been given up.
    private var earlier = ClockFollower.Counts()
    private var transportMessages = 0
    private var transport: [ClockFigures.Message] = []

    /// Stamps may step back by so many microseconds: the error of relating two clocks.
    private static let backstep: Int64 = 10_000
    /// Ticks are measured once so many have come after them: their numbers may still be corrected until then.
    private static let settled = 144
    /// Messages of the transport that are kept.
    private static let transportKept = 64

    /// A meter that has heard nothing.
    ///
    /// - Parameter start: when measuring begins: second 0.
    public init(start: HostTime) {
        self.start = start
        newest = start
    }

    /// Takes in a message of the clock.
    ///
    /// - Parameters:
    ///   - message: in the order of arrival.
    ///   - time: when it came. What is far before the message before begins the clock anew.
    public mutating func received(_ message: ClockMessage, at time: HostTime) {
        guard (0..<(1 << 53)).contains(time.microseconds) else { return refused += 1 }
        if time.microseconds < newest.microseconds - Self.backstep {
            refused += 1
            beginAnew(at: time)
        }
        newest = max(newest, time)
        follower.timePassed(to: newest)
        if message == .timingClock { noteSilence() } else { note(message) }
        follower.received(message, at: newest)
        guard message == .timingClock else { return }
        lastTick = newest
        unread += 1
        if unread >= TickBlock.size + Self.settled { readBlock() }
    }

    /// Takes note that an unknown number of messages was lost on this machine.
    public mutating func messagesLost() {
        overflows += 1
        follower.messagesLost()
    }

    /// Takes note that nothing came until now.
    public mutating func timePassed(to now: HostTime) {
        guard now > newest, now.microseconds < 1 << 53 else { return }
        newest = now
        follower.timePassed(to: now)
    }

    /// All there is to say by now.
    ///
    /// - Parameter nominal: the tempo the clock is meant to have, in beats per minute; nil to take a round one near by.
    /// - Returns: the figures.
    public func figures(nominal: Double? = nil) -> ClockFigures {
        var finished = self
        finished.finish()
        return finished.summary(nominal)
    }

    private mutating func beginAnew(at time: HostTime) {
        finish()
        breakOff()
        let counts = follower.counts
        earlier.ticks &+= counts.ticks
        earlier.lost &+= counts.lost
        earlier.extra &+= counts.extra
        follower = ClockFollower()
        (newest, lastTick, read) = (time, nil, .min)
    }

    private mutating func noteSilence() {
        guard follower.state == .lost, let lastTick else { return }
        let length = Double(lastTick.microseconds(to: newest)) / 1_000_000
        silences.count += 1
        silences.longestSeconds = max(silences.longestSeconds, length)
        finish()
        breakOff()
    }

    private mutating func note(_ message: ClockMessage) {
        let kind: ClockFigures.Message.Kind
        var position: Int?
        switch message {
        case .timingClock: return
        case .start: kind = .start
        case .continue: kind = .continue
        case .stop: kind = .stop
        case .songPosition(let beats): (kind, position) = (.songPosition, Int(beats))
        }
        transportMessages += 1
        if transport.count == Self.transportKept { transport.removeFirst() }
        transport.append(.init(kind: kind, second: seconds(newest), position: position))
    }

    private func seconds(_ time: HostTime) -> Double { Double(start.microseconds(to: time)) / 1_000_000 }
}

/// Measuring in blocks.
extension ClockMeter {
    /// The ticks heard that have not been measured, in order.
    private func unreadTicks() -> [Tick] {
        var ticks: [Tick] = []
        for age in 0..<follower.ticksHeard {
            let (number, time) = follower.tick(ago: age)
            guard time.microseconds > read else { break }
            ticks.append(Tick(number: number, time: time.microseconds))
        }
        return ticks.reversed()
    }

    private mutating func readBlock() {
        let ticks = unreadTicks()
        unread = ticks.count
        guard ticks.count >= TickBlock.size + Self.settled else { return }
        take(Array(ticks.prefix(TickBlock.size)))
    }

    private mutating func take(_ ticks: [Tick]) {
        unread -= ticks.count
        read = ticks.last?.time ?? read
        guard let block = TickBlock(ticks) else { return breakOff() }
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

    private mutating func measure(_ block: TickBlock) {
        jitter.add(block, after: tail)
        tail = block.ticks.suffix(2)
        if stretch == nil { stretch = SteadyStretch(block) } else { stretch?.add(block) }
    }

    private mutating func leaveOut() {
        tail = []
        stretch = nil
    }

    /// Measures what is left, whatever may follow.
    private mutating func finish() {
        var ticks = unreadTicks()[...]
        while ticks.count >= TickBlock.size {
            take(Array(ticks.prefix(TickBlock.size)))
            ticks = ticks.dropFirst(TickBlock.size)
        }
        let rest = TickBlock(Array(ticks))
        if let waiting, isInStep { measure(waiting) }
        // The rest is too short to tell of a change.
        if let rest, waiting.map({ isInStep && $0.isContinued(by: rest) }) ?? true { measure(rest) }
        read = ticks.last?.time ?? read
        unread = 0
    }

    /// What follows is no continuation, though the tempo may be the same.
    private mutating func breakOff() {
        waiting = nil
        isInStep = true
        leaveOut()
    }
}

/// Telling.
extension ClockMeter {
    private func summary(_ nominal: Double?) -> ClockFigures {
        let counts = follower.counts
        return ClockFigures(
            seconds: seconds(newest), state: .init(follower.state), tempo: tempo(nominal),
            ticks: .init(
                received: Int(earlier.ticks &+ counts.ticks), lost: Int(earlier.lost &+ counts.lost),
                doubled: Int(earlier.extra &+ counts.extra), measured: jitter.count,
                refused: refused + Int(counts.refused), overflows: overflows),
            jitter: jitter.figures, silences: silences,
            transport: .init(
                motion: motion, songBeat: songBeat, messages: transportMessages, newest: transport),
            histogram: jitter.histogram.bins(atMost: 24), trace: jitter.trace.points(since: start.microseconds))
    }

    private func tempo(_ nominal: Double?) -> ClockFigures.Tempo? {
        guard let estimate = follower.estimate else { return nil }
        let period = stretch?.period ?? estimate.microsecondsPerTick
        let deviation = stretch?.periodDeviation(noise: max(jitter.deviation, 0.3)) ?? estimate.periodDeviation
        let tempo = 2_500_000 / period
        return ClockFigures.Tempo(
            beatsPerMinute: tempo, deviation: tempo * deviation / period,
            slowest: min(slowest, tempo), fastest: max(fastest, tempo), changes: changes,
            drift: stretch.flatMap { _ in ClockFigures.Drift(tempo, relativeDeviation: deviation / period, nominal) })
    }

    private var motion: ClockFigures.Transport.Motion {
        switch follower.song.motion {
        case .stopped: .stopped
        case .pending: .pending
        case .playing: .playing
        }
    }

    private var songBeat: Double? {
        follower.song.position(ofTick: follower.nextTick &- 1).map { Double($0) / 24 }
    }
}

extension ClockFigures.Drift {
    /// What is off by more, in parts in a million, is not meant to be the round tempo it is near.
    private static let mostCrystals = 100.0

    init?(_ tempo: Double, relativeDeviation: Double, _ nominal: Double?) {
        let meant = nominal ?? (tempo * 10).rounded() / 10
        let off = (tempo / meant - 1) * 1_000_000
        guard meant > 0, nominal != nil || abs(off) <= Self.mostCrystals else { return nil }
        self.init(nominalTempo: meant, partsPerMillion: off, deviation: relativeDeviation * 1_000_000)
    }
}
