import BeatTime
import MIDIClock
import Simulation
import Testing

/// One planner and the drum machine it drives, in virtual time.
struct DeviceUnderClock {
    var planner = TickPlanner()
    var now: Int64
    var machine = DrumMachine()
    /// The longest sleep between two looks at the plan, in microseconds.
    private let slice: Int64 = 5_000

    init(now: Int64 = 0) { self.now = now }

    /// Runs the planner under one plan until a time, as the output thread would.
    mutating func run(_ plan: OutputPlan, until end: Int64, sourceLocation: SourceLocation = #_sourceLocation) {
        while now < end {
            switch planner.step(plan, at: HostTime(microseconds: now)) {
            case .send(let message, let due):
                #expect(due.microseconds <= now, "sent before it was due", sourceLocation: sourceLocation)
                let fault = machine.take(message, at: now, on: plan.line)
                #expect(fault == nil, sourceLocation: sourceLocation)
            case .wait(let until):
                #expect(until.microseconds > now, "told to wait for the past", sourceLocation: sourceLocation)
                now = min(until.microseconds, now + slice, end)
            }
        }
    }

    var events: [DrumMachine.Event] { machine.events }
    var isPlaying: Bool { machine.isPlaying }
    var songPosition: Int64 { machine.songPosition }
    var ticks: [Int64] { machine.ticks }
    var transport: [ClockMessage] { machine.transport }
}

/// Ticks at a tempo from time 0.
func line(beatsPerMinute: Double, timeOrigin: Int64 = 0, tickOrigin: Int64 = 0) -> TickLine {
    TickLine(
        microsecondsPerBeat: Tempo(beatsPerMinute: beatsPerMinute).microsecondsPerBeat,
        timeOrigin: HostTime(microseconds: timeOrigin), tickOrigin: tickOrigin)
}

func stopped(_ line: TickLine) -> OutputPlan {
    OutputPlan(line: line, transport: .stopped, settings: OutputSettings())
}

func playing(_ line: TickLine, from startTick: Int64, ticksPerBar: Int64 = 96) -> OutputPlan {
    OutputPlan(
        line: line, transport: PlannedTransport(isPlaying: true, startTick: startTick, ticksPerBar: ticksPerBar),
        settings: OutputSettings())
}
