import BeatTime
import MIDIClock
import Simulation
import Testing

/// One planner and the drum machine it drives, in virtual time.
struct DeviceUnderClock {
    var planner = TickPlanner()
    var now: Int64
    var machine = DrumMachine()
    /// The places of the sent ticks on the session's ticks.
    private(set) var places: [TickPlace] = []
    /// How late it wakes, in microseconds.
    var lateness: Int64 = 0
    /// Longest time between two checks of the plan, in microseconds.
    private let slice: Int64 = 5_000
    /// Whether it accepts nothing now; such a device may get more Stops than needed.
    var isStuck = false { didSet { mayBeStopped = true } }
    private var mayBeStopped = false

    init(now: Int64 = 0) { self.now = now }

    /// Runs the planner with one plan until a time, like the output thread.
    mutating func run(_ score: Score, until end: Int64, sourceLocation: SourceLocation = #_sourceLocation) {
        while now < end {
            let time = HostTime(microseconds: now)
            guard let planned = planner.next(score.plan, on: score.map, at: time), planned.due <= time else {
                let due = planner.next(score.plan, on: score.map, at: time)?.due.microseconds ?? .max
                now = min(max(due, now) + lateness, now + slice, end)
                continue
            }
            planner.sent(planned, at: time)
            guard !isStuck else {
                planner.refused()
                continue
            }
            planner.taken()
            if planned.message == .timingClock { places.append(planned.place) }
            let fault = machine.take(planned.message, at: now, on: score.map.line, score.plan.settings)
            #expect(fault == nil || planned.message == .stop && mayBeStopped, sourceLocation: sourceLocation)
        }
    }

    var events: [DrumMachine.Event] { machine.events }
    var isPlaying: Bool { machine.isPlaying }
    var songPosition: Int64 { machine.songPosition }
    var ticks: [Int64] { machine.ticks }
    var transport: [ClockMessage] { machine.transport }
}

/// Ticks at a tempo, starting at time 0.
func line(beatsPerMinute: Double, timeOrigin: Int64 = 0, tickOrigin: Int64 = 0) -> TickLine {
    TickLine(
        microsecondsPerBeat: Tempo(beatsPerMinute: beatsPerMinute).microsecondsPerBeat,
        timeOrigin: HostTime(microseconds: timeOrigin), tickOrigin: tickOrigin)
}

/// What one output must play.
struct Score {
    var map: TempoMap
    var plan: OutputPlan
}

func stopped(_ line: TickLine, _ settings: OutputSettings = OutputSettings()) -> Score {
    Score(map: TempoMap(line), plan: OutputPlan(transport: .stopped, settings: settings))
}

func playing(
    _ line: TickLine, from startTick: Int64, ticksPerBar: Int64 = 96, _ settings: OutputSettings = OutputSettings()
) -> Score {
    let transport = PlannedTransport(isPlaying: true, startTick: startTick, ticksPerBar: ticksPerBar)
    return Score(map: TempoMap(line), plan: OutputPlan(transport: transport, settings: settings))
}
