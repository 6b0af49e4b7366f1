internal import BeatTime

/// When an output's pulses are sent: their grid, the output's offset, and corrections still in progress.
struct PulseTrain: BitwiseCopyable {
    private(set) var grid: PulseGrid
    private var fold: TempoFold
    /// What the grid was made of.
    private var source: PulseGrid.Source
    private var offset: Int64
    /// Moves of grid and offset that are still being corrected.
    private var slews = RateAccumulator()
    /// Tempo changes that are being spread.
    private var spread = RateAccumulator()
    /// What a performer does to the pulses for a while.
    private var bend = Bend()
    private var followed: Followed
    private var probe: Probe
    /// The tempos that the device takes.
    private var tempos: TempoRange

    /// The changes of a tempo map that were already taken into followed.
    private struct Followed: Hashable, BitwiseCopyable {
        var tempoChanges: UInt32
        var slewed: Int64
        var steps: UInt32
        var line: TickLine

        init(_ map: TempoMap) {
            (tempoChanges, slewed, steps, line) = (map.tempoChanges, map.slewed, map.steps, map.line)
        }
    }

    /// What a new map or new settings mean for the next pulses.
    struct Change: BitwiseCopyable {
        /// When the next pulse was due by the former ones.
        var wasDue: HostTime
        var gridBreak = Break.none
        /// Whether pulses are counted differently, so that a device may no longer be where the song is.
        var isRegrouped = false
    }

    /// How pulses follow a grid that has moved too far to slew all the way.
    enum Break: BitwiseCopyable {
        /// It has not moved that far.
        case none
        /// They continue where the new grid has them.
        case stepped
        /// They slew to the nearest pulse of the new grid.
        case slewed
    }

    /// An initial value without meaning.
    init() {
        let line = TickLine(
            microsecondsPerBeat: 500_000, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)
        self.init(OutputPlan(transport: .stopped, settings: OutputSettings()), on: TempoMap(line))
    }

    /// The first use of a map: no correction is in progress.
    init(_ plan: OutputPlan, on map: TempoMap) {
        offset = plan.settings.offset
        probe = plan.probe
        tempos = plan.settings.tempos
        followed = Followed(map)
        fold = TempoFold.none.following(plan.settings, microsecondsPerBeat: map.line.microsecondsPerBeat)
        source = PulseGrid.Source(plan.settings, tickLength: map.line.tickLength, origin: plan.transport.startTick)
        grid = PulseGrid(source, fold)
    }

    /// When to send a pulse.
    func due(_ pulse: Int64, on map: TempoMap) -> HostTime { due(at: grid.place(ofPulse: pulse), on: map) }

    /// When to send a pulse at a place.
    func due(at place: TickPlace, on map: TempoMap) -> HostTime {
        sent(map.time(of: place)).advanced(byMicroseconds: displacement(of: place, map.line))
    }

    /// When to send what the timeline has at a time.
    private func sent(_ time: HostTime) -> HostTime {
        time.advanced(byMicroseconds: offset + debt(at: time) + bend.shift(at: time))
    }

    /// When to send what belongs between a pulse and the next, not too close to either.
    func afterPulse(_ pulse: Int64, on map: TempoMap) -> HostTime {
        let (before, after) = (due(pulse, on: map), due(pulse + 1, on: map))
        return before.advanced(byMicroseconds: before.microseconds(to: after) * 2 / 5)
    }

    /// Displacement of a pulse by the probe, limited so that pulses keep their distance.
    private func displacement(of place: TickPlace, _ line: TickLine) -> Int64 {
        guard place.tick >= probe.startTick else { return 0 }
        return probe.sign(ofTick: place.tick) * min(Probe.amplitude(line), shortestGap(line) / 20)
    }

    private func debt(at time: HostTime) -> Int64 {
        guard !slews.isUnused || !spread.isUnused else { return 0 }
        return roundedToInteger(slews.debt(at: time) + spread.debt(at: time))
    }

    /// The first pulse to be sent at or after a time.
    func first(atOrAfter time: HostTime, on map: TempoMap) -> Int64 {
        let nominal = nominal(at: time)
        var pulse = grid.pulse(atOrAfter: TickPlace(tick: map.firstTick(atOrAfter: nominal)))
        // Swing, corrections and changes of tempo move a pulse slightly; the pulses of an eighth cover that.
        for _ in 0..<192 where due(pulse - 1, on: map) >= time { pulse -= 1 }
        for _ in 0..<192 where due(pulse, on: map) < time { pulse += 1 }
        return pulse
    }

    /// Distance of two pulses without swing, in microseconds, at the newest tempo.
    func gap(_ line: TickLine) -> Int64 { line.tickLength * grid.divide / grid.multiply }

    /// Shortest time between two pulses, in microseconds; late ones are sent at this distance.
    ///
    /// It is that of the highest tempo that the device takes, or of a tempo a quarter above the newest one if that is
    /// higher. A device must see each pulse, and two bytes on a DIN line take 0.64 ms.
    func minimumGap(_ line: TickLine) -> Int64 {
        let fastest = 60_000_000_000 / (TickLine.ticksPerBeat * tempos.highest)
        return max(700, min(fastest, shortestGap(line) * 4 / 5))
    }

    /// Shortest planned distance of two pulses, in microseconds, at the newest tempo.
    func shortestGap(_ line: TickLine) -> Int64 { gap(line) * (1_000 - grid.swing) / 500 }

    /// How late a pulse may be and still be sent, in microseconds; beyond that the device is relocated.
    ///
    /// Three ticks or 30 ms, whichever is longer, but never more than a sixteenth.
    func catchUpLimit(_ line: TickLine) -> Int64 { Self.catchUpLimit(gap: gap(line)) }

    /// The same for pulses at this distance, in microseconds.
    static func catchUpLimit(gap: Int64) -> Int64 { min(max(3 * gap, 30_000), 6 * gap) }

    /// Applies a newer map and newer settings.
    ///
    /// - Parameters:
    ///   - plan: the newest plan.
    ///   - map: the newest map.
    ///   - next: the next pulse to be sent; renumbered if pulses are counted differently.
    ///   - isRunning: whether a device hears the pulses.
    ///   - now: the present host time.
    /// - Returns: what that means for the next pulses.
    mutating func follow(
        _ plan: OutputPlan, on map: TempoMap, next: inout Int64, isRunning: Bool, at now: HostTime
    ) -> Change {
        var change = Change(wasDue: formerDue(next))
        let hasStepped = map.steps != followed.steps
        if followed.tempoChanges != map.tempoChanges { followTempo(plan.settings, map, at: now) }
        if hasStepped { (slews, spread) = (RateAccumulator(), RateAccumulator()) }
        let move =
            hasStepped
            ? map.slewed &- map.slewedAtStep : map.slewed &- followed.slewed &+ plan.settings.offset &- offset
        let isOwed = move == 0 || owe(Double(-move), on: map, at: now)
        if !isOwed { (slews, spread) = (RateAccumulator(), RateAccumulator()) }
        if hasStepped || !isOwed { change.gridBreak = plan.settings.mayStep || !isRunning ? .stepped : .slewed }
        offset = plan.settings.offset
        if plan.bend != bend.rate { bend.turn(to: plan.bend, at: nominal(at: now)) }
        probe = plan.probe
        tempos = plan.settings.tempos
        followed = Followed(map)
        let (former, count) = (grid, next)
        change.isRegrouped = regroup(
            plan, on: map, next: &next, foldsAnywhere: !isRunning || change.gridBreak == .stepped)
        if grid.origin != former.origin, plan.settings.mayStep {
            let last = former.straightPlace(ofPulse: count - 1)
            next = min(next, max(first(after: last), first(atOrAfter: now, on: map)))
        }
        if change.gridBreak == .slewed { next = slew(to: change.wasDue, on: map) }
        return change
    }

    /// Counts pulses from a new beginning, or changes the number of pulses per tick.
    private mutating func regroup(
        _ plan: OutputPlan, on map: TempoMap, next: inout Int64, foldsAnywhere: Bool
    ) -> Bool {
        let origin = plan.transport.isPlaying ? plan.transport.startTick : grid.origin
        let source = PulseGrid.Source(plan.settings, tickLength: map.line.tickLength, origin: origin)
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
        let former = grid
        grid = PulseGrid(source, fold)
        next = grid.pulse(atOrAfter: place)
        return grid.multiply != former.multiply || grid.divide != former.divide
    }

    /// The first pulse after a place.
    ///
    /// Divided pulses counted from a new beginning may come sooner than the next old one, and the first of them starts
    /// the song.
    private func first(after place: TickPlace) -> Int64 {
        let pulse = grid.pulse(atOrAfter: place)
        return grid.straightPlace(ofPulse: pulse) == place ? pulse + 1 : pulse
    }

    /// Whether a pulse is the first at or after a beat.
    private func isFirstOfBeat(_ pulse: Int64, at place: TickPlace, countedFrom origin: Int64) -> Bool {
        let beat = (place.tick &- origin).floorDivided(by: TickLine.ticksPerBeat) * TickLine.ticksPerBeat &+ origin
        return grid.straightPlace(ofPulse: pulse - 1).tick < beat
    }

    /// When a pulse was due by the previous map and settings.
    private func formerDue(_ pulse: Int64) -> HostTime {
        sent(followed.line.time(of: grid.place(ofPulse: pulse)))
    }

    /// Continues with the pulse nearest to a time, and slews over the difference: at most half a gap.
    private mutating func slew(to time: HostTime, on map: TempoMap) -> Int64 {
        var pulse = first(atOrAfter: time, on: map)
        var apart = due(pulse, on: map).microseconds(to: time)
        let before = due(pulse - 1, on: map).microseconds(to: time)
        if before < -apart { (pulse, apart) = (pulse - 1, before) }
        slews.owe(Double(apart), at: map.time(of: grid.place(ofPulse: pulse)))
        return pulse
    }

    /// The time on the timeline of the pulses that are sent now.
    private func nominal(at now: HostTime) -> HostTime {
        let plain = bend.time(shiftedTo: now.advanced(byMicroseconds: -offset))
        return plain.advanced(byMicroseconds: -debt(at: plain))
    }

    /// Adds a move to be slewed over, unless the total would exceed half a tick, or after a leader half a beat.
    ///
    /// - Returns: whether it was added.
    private mutating func owe(_ move: Double, on map: TempoMap, at now: HostTime) -> Bool {
        let time = nominal(at: now)
        let farthest = map.tolerance == nil ? map.line.tickLength / 2 : map.line.microsecondsPerBeat / 2 + 1_000
        let debt = slews.debt(at: time)
        guard abs(debt + move) <= max(Double(farthest), abs(debt)) else { return false }
        slews.owe(move, at: time, hurryAbove: map.tolerance.map(Double.init) ?? .infinity)
        return true
    }

    /// Handles changes of tempo: spreads them if the settings say so.
    ///
    /// An output that sends ahead of the session, by its offset or a bend, has used the old tempo for a while, and must
    /// correct that.
    private mutating func followTempo(_ settings: OutputSettings, _ map: TempoMap, at now: HostTime) {
        var number = followed.tempoChanges
        while number != map.tempoChanges {
            number &+= 1
            guard let change = map.tempoChange(number) else { continue }
            if settings.smoothing > 0, abs(change.stretch) <= Self.largestSpread {
                spread.owe(slope: change.stretch, over: Double(settings.smoothing), at: change.at)
            }
            let time = nominal(at: now)
            let ahead = change.at.microseconds(to: time)
            guard offset + bend.shift(at: time) < 0, ahead > 0 else { continue }
            // At most half a tick is corrected by slewing; the rest at once.
            let (debt, most) = (slews.debt(at: time), Double(map.line.tickLength) / 2)
            let wanted = debt - Double(ahead) * (1 / (1 + change.stretch) - 1)
            slews.owe(min(max(wanted, -most), most) - debt, at: time)
        }
    }

    /// A tempo change by more than this share is followed at once, even with smoothing.
    private static let largestSpread = 0.25
}
