internal import BeatTime
internal import MIDIClock

/// Whether a line is on, and when it goes off; for a click, whether one is due.
struct LineState: Sendable {
    let line: PulseLine
    private let pulsesPerBeat: Int64
    private var isOn = false
    /// When it last went on.
    private var rise = HostTime(microseconds: .min / 2)
    /// When its pulse ends; nil if it is off, or stays on.
    private(set) var fall: HostTime?
    /// It stays off until this time, so that its machine sees that it was off.
    private var offUntil = HostTime(microseconds: .min / 2)
    /// A clock takes one of so many planned pulses.
    private var stride: Int64 = 1
    /// Whether clicks have begun: with the song, or with a bar before it.
    private var isInBars = false
    /// The song, whose bars there are while it plays or is about to, and the part of it in which a click is silent.
    private var song = PlannedTransport.stopped
    private var rest = Rest.none
    /// A click that is later than this, in microseconds, is left out.
    private static let latestClick: Int64 = 10_000

    init(_ line: PulseLine, pulsesPerBeat: Int64) { (self.line, self.pulsesPerBeat) = (line, pulsesPerBeat) }

    /// Takes the newest plan: a pulse that has begun ends by the newest tempo.
    mutating func look(at plan: OutputPlan, _ planner: TickPlanner, on map: TempoMap, from now: HostTime) {
        (song, rest) = (plan.transport, plan.rest)
        if case .click = line.signal {
            isInBars = song.isPlaying && (isInBars || map.time(ofTick: song.startTick) < now)
        }
        guard case .clock(let rate, let width) = line.signal else { return }
        stride = rate.stride(pulsesPerBeat: pulsesPerBeat, plan.transport)
        guard isOn else { return }
        let interval = planner.interval(from: rise, toEvery: stride, on: map)
        fall = max(now, rise.advanced(byMicroseconds: width(interval: interval)))
    }

    /// The earliest time at which it may go on: between two pulses it is off for at least half as long as it was on.
    var earliestRise: HostTime {
        guard let fall else { return offUntil }
        return max(offUntil, fall.advanced(byMicroseconds: rise.microseconds(to: fall) / 2))
    }

    /// Ends a pulse.
    mutating func goOff() { (isOn, offUntil, fall) = (false, earliestRise, nil) }

    /// Whether a message turns it on.
    func goesOn(with planned: PlannedMessage) -> Bool {
        switch (line.signal, planned.message) {
        case (.clock(.perBeat, _), .timingClock): return planned.pulse % stride == 0
        case (.clock(.everyBars, _), .timingClock):
            return song.isPlaying && planned.pulse >= 0 && planned.pulse % stride == 0
        case (.run, .start), (.trigger(.start, _), .start), (.trigger(.stop, _), .stop): return true
        case (.trigger(.startAndStop, _), .start), (.trigger(.startAndStop, _), .stop): return true
        case (.click(let levels), _):
            guard let click = click(with: planned), isInBars || click == .bar else { return false }
            return levels[click] > 0 && !rest.contains(songTick(of: planned))
        case (.clock, _), (.run, _), (.trigger, _): return false
        }
    }

    /// The click that a tick of a song asks for.
    func click(with planned: PlannedMessage) -> Click? {
        guard case .click = line.signal, planned.message == .timingClock, song.isPlaying else { return nil }
        // Beats are those of a machine that gets these pulses; bars are the session's.
        guard planned.pulse % pulsesPerBeat == 0 else {
            return planned.pulse % (pulsesPerBeat / 2) == 0 ? .offBeat : nil
        }
        return planned.place.millionths == 0 && songTick(of: planned) % song.ticksPerBar == 0 ? .bar : .beat
    }

    private func songTick(of planned: PlannedMessage) -> Int64 { planned.place.tick &- song.startTick }

    /// Does what a message says.
    ///
    /// - Parameters:
    ///   - planned: a message that takes effect.
    ///   - time: when it does.
    ///   - leastLead: how long no clock pulse may follow a start, and how long `run` must be off before one, in
    ///     microseconds.
    /// - Returns: whether the line goes on or off; nil if it stays as it is.
    mutating func follow(_ planned: PlannedMessage, at time: HostTime, leastLead: Int64) -> Bool? {
        let free = time.advanced(byMicroseconds: leastLead)
        switch (line.signal, planned.message) {
        case (.clock, .start): offUntil = max(offUntil, free)
        case (.run, .stop):
            guard isOn else { return nil }
            (isOn, offUntil) = (false, free)
            return false
        case (.click, _):
            isInBars = isInBars || click(with: planned) == .bar
            let late = planned.belated + planned.due.microseconds(to: time)
            return late <= Self.latestClick && goesOn(with: planned) ? true : nil
        case (.clock, _), (.run, _), (.trigger, _): break
        }
        guard goesOn(with: planned), !isOn else { return nil }
        (isOn, rise) = (true, time)
        if case .trigger(_, let width) = line.signal { fall = time.advanced(byMicroseconds: width) }
        return true
    }

    /// It is off at once.
    mutating func fallSilent() {
        let wasInBars = isInBars
        self = LineState(line, pulsesPerBeat: pulsesPerBeat)
        isInBars = wasInBars
    }
}

extension PulseRate {
    /// How many planned pulses there are from one pulse to the next.
    fileprivate func stride(pulsesPerBeat: Int64, _ transport: PlannedTransport) -> Int64 {
        switch self {
        case .perBeat(let count): pulsesPerBeat / count
        case .everyBars(let count): count * transport.ticksPerBar * pulsesPerBeat / TickLine.ticksPerBeat
        }
    }
}
