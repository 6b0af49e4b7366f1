internal import BeatTime

/// When an output's pulses leave: the grid they lie on, the output's offset, and what it still owes.
struct PulseTrain: BitwiseCopyable {
    private(set) var grid: PulseGrid
    private(set) var fold: TempoFold
    /// What the grid was made of.
    private var source: GridSource
    private var offset: Int64
    /// Steps of the grid and of the offset that are being paid off.
    private var steps = RateAccumulator()
    /// Changes of tempo that are being spread.
    private var spread = RateAccumulator()
    private var account: Account
    private var probe: Probe
    /// The tempos that the device takes.
    private var tempos: TempoRange

    /// What of a tempo map has been taken into account already.
    private struct Account: Hashable, BitwiseCopyable {
        var tempoChanges: UInt32
        var glides: Int64
        var jumps: UInt32
        var line: TickLine

        init(_ map: TempoMap) {
            (tempoChanges, glides, jumps, line) = (map.tempoChanges, map.glides, map.jumps, map.line)
        }
    }

    /// What a grid is made of besides a fold; as long as it is the same, so is the grid.
    private struct GridSource: Hashable, BitwiseCopyable {
        var (multiply, divide, swing): (Int64, Int64, Int64)
        var (tickLength, origin): (Int64, Int64)

        init(_ settings: OutputSettings, tickLength: Int64, origin: Int64) {
            (multiply, divide, swing) = (settings.multiply, settings.divide, settings.swing)
            (self.tickLength, self.origin) = (tickLength, origin)
        }
    }

    /// What a new map or new settings mean for the pulses that come next.
    struct Change: BitwiseCopyable {
        var jump = Jump.none
        /// Whether pulses may fall elsewhere than before.
        var isMoved = false
        /// Whether they are counted otherwise, so that a device may no longer be where the song is.
        var isRegrouped = false
    }

    /// How pulses follow a grid that has moved too far to glide all the way.
    enum Jump: BitwiseCopyable {
        /// It has not.
        case none
        /// They go on where the new grid has them.
        case broken
        /// They glide to the nearest pulse of the new grid.
        case slid
    }

    /// Pulses of nobody, to begin with.
    init() {
        let line = TickLine(
            microsecondsPerBeat: 500_000, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)
        self.init(OutputPlan(transport: .stopped, settings: OutputSettings()), on: TempoMap(line))
    }

    /// The first look at a map: nothing is owed.
    init(_ plan: OutputPlan, on map: TempoMap) {
        offset = plan.settings.offset
        probe = plan.probe
        tempos = plan.settings.tempos
        account = Account(map)
        fold = TempoFold.none.following(plan.settings, microsecondsPerBeat: map.line.microsecondsPerBeat)
        let (tickLength, origin) = (map.line.tickLength, plan.transport.startTick)
        grid = PulseGrid(plan.settings, fold, tickLength: tickLength, origin: origin)
        source = GridSource(plan.settings, tickLength: tickLength, origin: origin)
    }

    /// When a pulse leaves.
    func due(_ pulse: Int64, on map: TempoMap) -> HostTime { due(at: grid.place(ofPulse: pulse), on: map) }

    /// When a pulse leaves that falls on a place.
    func due(at place: TickPlace, on map: TempoMap) -> HostTime {
        let time = map.time(of: place)
        return time.advanced(byMicroseconds: offset + debt(at: time) + displacement(of: place, map.line))
    }

    /// What the probe moves a pulse by: never so much that two pulses come closer than they may.
    private func displacement(of place: TickPlace, _ line: TickLine) -> Int64 {
        guard place.tick >= probe.startTick else { return 0 }
        return probe.sign(ofTick: place.tick) * min(Probe.amplitude(line), shortestGap(line) / 20)
    }

    private func debt(at time: HostTime) -> Int64 {
        guard !steps.isClear || !spread.isClear else { return 0 }
        return roundedToInteger(steps.debt(at: time) + spread.debt(at: time))
    }

    /// The first pulse that leaves at or after a time.
    func first(atOrAfter time: HostTime, on map: TempoMap) -> Int64 {
        let nominal = time.advanced(byMicroseconds: -offset)
        var pulse = grid.pulse(atOrAfter: TickPlace(tick: map.firstTick(atOrAfter: nominal)))
        // Swing, debt and the seams between tempos move a pulse by a little: an eighth's worth of them covers it.
        for _ in 0..<192 where due(pulse - 1, on: map) >= time { pulse -= 1 }
        for _ in 0..<192 where due(pulse, on: map) < time { pulse += 1 }
        return pulse
    }

    /// The straight distance of two pulses in microseconds, at the newest tempo.
    func gap(_ line: TickLine) -> Int64 { line.tickLength * grid.divide / grid.multiply }

    /// The least time between two pulses sent, in microseconds: a device must see each one, and two bytes on a DIN line
    /// take 0.64 ms.
    func minimumGap(_ line: TickLine) -> Int64 {
        max(700, min(2_000, shortestGap(line) * 4 / 5))
    }

    /// The least time between two pulses, in microseconds, while pulses are behind a plan that has changed.
    ///
    /// They are caught up no faster than the fastest tempo of the device, or of any session, allows, and half a percent:
    /// without that a device at that tempo would never be on time again. After a stall ``minimumGap(_:)`` counts alone.
    ///
    /// - Parameters:
    ///   - place: of the second.
    ///   - last: of the first; nil if it lies on another grid.
    ///   - line: the newest line.
    /// - Returns: microseconds.
    func plannedGap(to place: TickPlace, from last: TickPlace?, _ line: TickLine) -> Int64 {
        var distance = Double(gap(line))
        if let last {
            let ticks = Double(place.tick &- last.tick) + Double(place.millionths - last.millionths) / 1e6
            // What was sent twice, or lies behind, tells nothing.
            if ticks > 0 {
                distance = min(distance, ticks * Double(line.microsecondsPerBeat) / Double(TickLine.ticksPerBeat))
            }
        }
        return Int64(min(distance, fastestGap) * (1 - RateAccumulator.rateLimit))
    }

    /// The straight distance of two pulses at the fastest tempo that there may be, in microseconds.
    private var fastestGap: Double {
        guard tempos == .all else { return 60e9 / Double(TickLine.ticksPerBeat * tempos.highest) }
        return 60_060 * Double(grid.divide) / Double(TickLine.ticksPerBeat * grid.multiply)
    }

    private func shortestGap(_ line: TickLine) -> Int64 { gap(line) * (1_000 - grid.swing) / 500 }

    /// How late a pulse may be and still be caught up, in microseconds; beyond it the device is relocated.
    ///
    /// Three ticks or 30 ms, whichever is more, but never more than a sixteenth.
    func catchUpLimit(_ line: TickLine) -> Int64 { min(max(3 * gap(line), 30_000), 6 * gap(line)) }

    /// Takes a newer map and newer settings into account.
    ///
    /// - Parameters:
    ///   - plan: the newest plan.
    ///   - map: the newest map.
    ///   - next: the next pulse to be sent; pulses may be counted otherwise afterwards.
    ///   - isRunning: whether a device hears the pulses.
    ///   - now: the present host time.
    /// - Returns: what that means for the pulses that come next.
    mutating func follow(
        _ plan: OutputPlan, on map: TempoMap, next: inout Int64, isRunning: Bool, at now: HostTime
    ) -> Change {
        let wasDue = plan.settings.mayJump ? now : formerDue(next)
        let hasJumped = map.jumps != account.jumps
        if account.tempoChanges != map.tempoChanges { followTempo(plan.settings, map, at: now) }
        let step = map.glides &- account.glides &+ plan.settings.offset &- offset
        let isOwed = step == 0 || owe(Double(-step), on: map.line, at: now)
        var change = Change()
        change.isMoved = hasJumped || step != 0 || account.tempoChanges != map.tempoChanges
        if hasJumped || !isOwed { change.jump = plan.settings.mayJump || !isRunning ? .broken : .slid }
        offset = plan.settings.offset
        probe = plan.probe
        tempos = plan.settings.tempos
        account = Account(map)
        if change.jump != .none { (steps, spread) = (RateAccumulator(), RateAccumulator()) }
        let (former, count) = (grid, next)
        change.isRegrouped = regroup(plan, on: map, next: &next, foldsAnywhere: !isRunning || change.jump == .broken)
        if grid.origin != former.origin, plan.settings.mayJump {
            let last = former.straightPlace(ofPulse: count - 1)
            next = min(next, max(first(after: last), first(atOrAfter: now, on: map)))
        }
        if change.jump == .slid { next = slide(to: wasDue, on: map) }
        return change
    }

    /// Counts pulses from a new top, or puts more or fewer of them on a tick.
    private mutating func regroup(
        _ plan: OutputPlan, on map: TempoMap, next: inout Int64, foldsAnywhere: Bool
    ) -> Bool {
        let origin = plan.transport.isPlaying ? plan.transport.startTick : grid.origin
        let source = GridSource(plan.settings, tickLength: map.line.tickLength, origin: origin)
        guard source != self.source || plan.settings.tempos != .all || fold != .none else { return false }
        self.source = source
        let place = grid.straightPlace(ofPulse: next)
        if plan.settings.tempos != .all || fold != .none {
            let tempo = map.microsecondsPerBeat(at: place)
            if foldsAnywhere {
                fold = TempoFold.none.following(plan.settings, microsecondsPerBeat: tempo)
            } else if isFirstOfBeat(next, at: place, countedFrom: origin) {
                fold = fold.following(plan.settings, microsecondsPerBeat: tempo)
            }
        }
        let wanted = PulseGrid(plan.settings, fold, tickLength: map.line.tickLength, origin: origin)
        guard wanted != grid else { return false }
        defer { grid = wanted }
        next = wanted.pulse(atOrAfter: place)
        return wanted.multiply != grid.multiply || wanted.divide != grid.divide
    }

    /// The first pulse behind a place.
    ///
    /// Divided pulses that are counted from a new top may fall sooner than the next of those before, and the first of
    /// them is the song's.
    private func first(after place: TickPlace) -> Int64 {
        let pulse = grid.pulse(atOrAfter: place)
        return grid.straightPlace(ofPulse: pulse) == place ? pulse + 1 : pulse
    }

    /// Whether a pulse is the first that falls on a beat or after it.
    private func isFirstOfBeat(_ pulse: Int64, at place: TickPlace, countedFrom origin: Int64) -> Bool {
        let beat = (place.tick &- origin).floorDivided(by: TickLine.ticksPerBeat) * TickLine.ticksPerBeat &+ origin
        return grid.straightPlace(ofPulse: pulse - 1).tick < beat
    }

    /// When a pulse was due before the newest map and settings.
    private func formerDue(_ pulse: Int64) -> HostTime {
        let time = account.line.time(of: grid.place(ofPulse: pulse))
        return time.advanced(byMicroseconds: offset + debt(at: time))
    }

    /// Goes on with the nearest pulse to a time, and owes what lies between: at most half a gap.
    private mutating func slide(to time: HostTime, on map: TempoMap) -> Int64 {
        var pulse = first(atOrAfter: time, on: map)
        var step = due(pulse, on: map).microseconds(to: time)
        let before = due(pulse - 1, on: map).microseconds(to: time)
        if before < -step { (pulse, step) = (pulse - 1, before) }
        steps.owe(Double(step), at: map.time(of: grid.place(ofPulse: pulse)))
        return pulse
    }

    /// The time on the timeline whose pulses leave now.
    private func nominal(at now: HostTime) -> HostTime {
        let plain = now.advanced(byMicroseconds: -offset)
        return plain.advanced(byMicroseconds: -debt(at: plain))
    }

    /// Owes a step, unless more than half a tick would then be owed.
    ///
    /// - Returns: whether it was owed.
    private mutating func owe(_ step: Double, on line: TickLine, at now: HostTime) -> Bool {
        let time = nominal(at: now)
        guard abs(steps.debt(at: time) + step) <= Double(line.tickLength) / 2 else { return false }
        steps.owe(step, at: time)
        return true
    }

    /// Changes of tempo: spread them where the settings say so; and what is sent ahead of the session has gone on at
    /// the old tempo for a while, which it owes.
    private mutating func followTempo(_ settings: OutputSettings, _ map: TempoMap, at now: HostTime) {
        var number = account.tempoChanges
        while number != map.tempoChanges {
            number &+= 1
            guard let change = map.tempoChange(number) else { continue }
            if settings.smoothing > 0, abs(change.stretch) <= Self.largestSpread {
                spread.owe(slope: change.stretch, over: Double(settings.smoothing), at: change.at)
            }
            let time = nominal(at: now)
            let ahead = change.at.microseconds(to: time)
            guard offset < 0, ahead > 0 else { continue }
            // No more than half a tick may be owed; the rest is made up for at once.
            let (debt, most) = (steps.debt(at: time), Double(map.line.tickLength) / 2)
            let wanted = debt - Double(ahead) * (1 / (1 + change.stretch) - 1)
            steps.owe(min(max(wanted, -most), most) - debt, at: time)
        }
    }

    /// A change of tempo by more than a quarter is followed at once, smoothing or not.
    private static let largestSpread = 0.25
}
