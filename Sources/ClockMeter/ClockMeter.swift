package import BeatTime
package import MIDIClock

/// Measures a MIDI clock: takes stamped messages, returns figures.
///
/// A ``ClockFollower`` decides which tick each Timing Clock is. Jitter is measured in blocks of four beats, against the
/// straight line through each, and only while the tempo is the same from block to block.
///
/// A value for one thread at a time. It reads no clock, and its memory does not grow.
package struct ClockMeter: Sendable {
    private var follower = ClockFollower()
    private let start: HostTime
    /// Time of the newest message.
    private var newest: HostTime
    /// End of the measurement so far; earlier messages may still arrive.
    private var end: HostTime
    private var lastTick: HostTime?
    /// Stamp of the newest measured tick.
    private var read = Int64.min
    private var unread = 0

    private var blocks = BlockMeter(.ticks)
    private var silences = ClockFigures.Silences(count: 0, longestSeconds: 0)
    private var overflows = 0
    private var refused = 0
    /// Counts of followers that were discarded.
    private var earlier = ClockFollower.Counts()
    private var transportMessages = 0
    private var transport: [ClockFigures.Message] = []

    /// Largest backward step of stamps, in microseconds, by the error of relating two clocks.
    private static let backstep: Int64 = 10_000
    /// Ticks that must follow before a tick is measured; until then its number may be corrected.
    private static let settled = 144
    /// Most transport messages that are kept.
    private static let transportKept = 64

    /// A meter without any messages.
    ///
    /// - Parameter start: start of the measurement: second 0.
    package init(start: HostTime) {
        self.start = start
        (newest, end) = (start, start)
    }

    /// Processes a message of the clock.
    ///
    /// - Parameters:
    ///   - message: in order of arrival.
    ///   - time: when it arrived. A time far before the previous message restarts the clock.
    package mutating func received(_ message: ClockMessage, at time: HostTime) {
        guard (0..<(1 << 53)).contains(time.microseconds) else { return refused += 1 }
        if time.microseconds < newest.microseconds - Self.backstep {
            refused += 1
            beginAnew(at: time)
        }
        newest = max(newest, time)
        end = max(end, newest)
        if message == .timingClock { noteSilence() } else { note(message) }
        follower.received(message, at: newest)
        guard message == .timingClock else { return }
        lastTick = newest
        unread += 1
        if unread >= PulseKind.ticks.block + Self.settled { readBlock() }
    }

    /// Notes that an unknown number of messages was lost on this machine.
    package mutating func messagesLost() {
        overflows += 1
        follower.messagesLost()
    }

    /// Notes that nothing arrived until now.
    package mutating func timePassed(to now: HostTime) {
        guard now > end, now.microseconds < 1 << 53 else { return }
        end = now
        follower.timePassed(to: now)
    }

    /// The figures so far.
    ///
    /// - Parameter nominal: the intended tempo in BPM; nil for a round one nearby.
    /// - Returns: the figures.
    package func figures(nominal: Double? = nil) -> ClockFigures {
        var finished = self
        finished.finish()
        return finished.summary(nominal)
    }

    private mutating func beginAnew(at time: HostTime) {
        breakOff()
        let counts = follower.counts
        earlier.ticks &+= counts.ticks
        earlier.lost &+= counts.lost
        earlier.extra &+= counts.extra
        follower = ClockFollower()
        (newest, lastTick, read) = (time, nil, .min)
    }

    private mutating func noteSilence() {
        guard let lastTick, let lostAt = follower.lostAt, newest >= lostAt else { return }
        let length = Double(lastTick.microseconds(to: newest)) / 1_000_000
        silences.count += 1
        silences.longestSeconds = max(silences.longestSeconds, length)
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
    /// Heard ticks that are not measured yet, in order, each once.
    private func unreadTicks() -> [Tick] {
        var ticks: [Tick] = []
        for age in 0..<follower.ticksHeard {
            let (number, time) = follower.tick(ago: age)
            guard time.microseconds > read else { break }
            if ticks.last?.number == number { ticks.removeLast() }
            ticks.append(Tick(number: number, time: time.microseconds))
        }
        return ticks.reversed()
    }

    private mutating func readBlock() {
        let ticks = unreadTicks()
        unread = ticks.count
        guard ticks.count >= PulseKind.ticks.block + Self.settled else { return }
        take(ticks.prefix(PulseKind.ticks.block))
    }

    private mutating func take(_ ticks: ArraySlice<Tick>) {
        unread -= ticks.count
        read = ticks.last?.time ?? read
        blocks.take(Array(ticks))
    }

    /// Measures what is left at the end.
    private mutating func finish() {
        var ticks = unreadTicks()[...]
        while ticks.count >= PulseKind.ticks.block {
            take(ticks.prefix(PulseKind.ticks.block))
            ticks = ticks.dropFirst(PulseKind.ticks.block)
        }
        blocks.finish(Array(ticks))
        read = ticks.last?.time ?? read
        unread = 0
    }

    /// Separates what follows, even if the tempo is the same.
    private mutating func breakOff() {
        finish()
        blocks.breakOff()
    }
}

/// Reporting.
extension ClockMeter {
    private func summary(_ nominal: Double?) -> ClockFigures {
        let counts = follower.counts
        return ClockFigures(
            seconds: seconds(end), state: .init(follower.state), tempo: tempo(nominal),
            ticks: .init(
                received: Int(earlier.ticks &+ counts.ticks), lost: Int(earlier.lost &+ counts.lost),
                doubled: Int(earlier.extra &+ counts.extra), measured: blocks.jitter.count,
                refused: refused + Int(counts.refused), overflows: overflows),
            jitter: blocks.jitter.figures, silences: silences,
            transport: .init(
                motion: motion, songBeat: songBeat, messages: transportMessages, newest: transport),
            histogram: blocks.jitter.histogram.bins(atMost: 24),
            trace: blocks.jitter.trace.points(since: start.microseconds))
    }

    private func tempo(_ nominal: Double?) -> ClockFigures.Tempo? {
        follower.estimate.map { estimate in
            blocks.tempo(
                rough: (estimate.microsecondsPerTick, estimate.periodDoubt / 2), perBeat: 24, nominal: nominal)
        }
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
    /// Largest deviation from a round tempo, in parts per million, at which that tempo is assumed to be intended.
    private static let mostCrystals = 100.0

    init?(_ tempo: Double, relativeDeviation: Double, _ nominal: Double?) {
        let meant = nominal ?? (tempo * 10).rounded() / 10
        let off = (tempo / meant - 1) * 1_000_000
        guard meant > 0, nominal != nil || abs(off) <= Self.mostCrystals else { return nil }
        self.init(nominalTempo: meant, partsPerMillion: off, deviation: relativeDeviation * 1_000_000)
    }
}
